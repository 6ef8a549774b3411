/* How the page looks, and the few lines that let a reader pick a class. */
#ifndef SC_REPORT_STYLE_H
#define SC_REPORT_STYLE_H

#include <stddef.h>

static const char *const report_style[] = {
    ":root{--bg:#fff;--fg:#1c2430;--soft:#5b6776;--line:#dfe4ea;--card:#f6f8fa;--accent:#0b6bcb;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b3589a;--c4:#8a6d00;--c5:#3a8fc4;--c6:#c0392b;--"
    "c7:#4d5b6a}\n",
    "@media "
    "(prefers-color-scheme:dark){:root{--bg:#11161d;--fg:#e4e9ef;--soft:#9aa7b5;--line:#2b3541;"
    "--card:#19212b;--accent:#6cb6ff;--c0:#56b4e9;--c1:#f0883e;--c2:#3fc796;--c3:#e08fc6;--c4:#"
    "e3c453;"
    "--c5:#8ccdf5;--c6:#ff7b72;--c7:#b7c3d0}}\n",
    "*{box-sizing:border-box}html{color-scheme:light dark}\n",
    "body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 "
    "system-ui,-apple-system,'Segoe UI',"
    "Roboto,'Helvetica Neue',Arial,sans-serif}\n",
    "main{max-width:1120px;margin:0 auto;padding:32px 20px 64px}\n",
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}"
    "h2{font-size:1.25rem;margin:44px 0 6px}p{margin:4px 0 "
    "14px;color:var(--soft);max-width:70ch}\n",
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(136px,1fr));gap:12px;margin:"
    "22px 0}"
    ".tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px "
    "16px}"
    ".tile b{display:block;font-size:1.5rem;line-height:1.25;font-variant-numeric:tabular-nums}"
    ".tile span{color:var(--soft);font-size:.86rem}\n",
    ".chips{display:flex;flex-wrap:wrap;gap:6px;margin:10px 0 14px}"
    ".chips button{font:inherit;font-size:.86rem;color:var(--fg);background:var(--card);border:1px "
    "solid var(--line);"
    "border-radius:99px;padding:2px "
    "12px;cursor:pointer;max-width:100%;overflow-wrap:anywhere;text-align:left}"
    ".chips button[aria-pressed=true]{border-color:var(--accent);color:var(--accent)}"
    ".dot{display:inline-block;width:.65em;height:.65em;border-radius:50%;margin-right:.45em;"
    "background:currentColor}\n",
    ".class{display:grid;grid-template-columns:130px 1fr;gap:14px;align-items:center;padding:10px "
    "0;"
    "border-top:1px solid "
    "var(--line)}.class>div:first-child{font-size:.92rem;overflow-wrap:anywhere}"
    ".class small,.panel small{color:var(--soft);display:block;font-size:.78rem;line-height:1.3}\n",
    ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(128px,1fr));gap:8px}"
    ".panel svg{display:block;width:100%;height:72px;background:var(--card);border:1px solid "
    "var(--line);"
    "border-radius:6px}.panel small{padding:2px 2px 0;overflow-wrap:anywhere}\n",
    "path{fill:none;vector-effect:non-scaling-stroke;stroke-linejoin:round}"
    "path.real{stroke:var(--soft);stroke-width:.7;opacity:.35}path.band{fill:var(--soft);opacity:."
    "2;stroke:none}"
    "path.middle{stroke:var(--soft);stroke-width:1;opacity:.8}path.own{stroke-width:1.5;stroke:"
    "currentColor}"
    "path.part{stroke-width:2.4;stroke:currentColor}\n",
    ".k0{color:var(--c0)}.k1{color:var(--c1)}.k2{color:var(--c2)}.k3{color:var(--c3)}.k4{color:var("
    "--c4)}"
    ".k5{color:var(--c5)}.k6{color:var(--c6)}.k7{color:var(--c7)}\n",
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}"
    ".wide{overflow-x:auto}td,th{padding:4px 10px 4px 0;text-align:left;vertical-align:middle}"
    "th{font-weight:600;color:var(--soft);font-size:.82rem}td.n{text-align:right}\n",
    ".bar{display:block;height:12px;border-radius:3px;background:var(--c0);min-width:2px}.bar.real{"
    "background:var(--soft);"
    "opacity:.55}.counts{width:100%}.counts td:not(:last-child){width:1%;padding-right:24px}\n",
    ".scores{display:grid;grid-template-columns:minmax(90px,max-content) 1fr "
    "minmax(96px,max-content);gap:8px 12px;"
    "align-items:center;font-size:.92rem}.scores "
    ".track{position:relative;background:var(--card);border-radius:4px;"
    "height:20px}.scores .fill{position:absolute;inset:0 auto 0 "
    "0;background:var(--c0);border-radius:4px;opacity:.85}"
    ".scores .dev{position:absolute;top:9px;height:2px;background:var(--fg)}.scores "
    "div{overflow-wrap:anywhere}"
    ".scores .n{font-variant-numeric:tabular-nums;white-space:nowrap}\n",
    ".matrix td{padding:0;border:2px solid "
    "var(--bg);min-width:30px;height:28px;text-align:center;font-size:.78rem}"
    ".matrix td.hit{background:color-mix(in srgb,var(--c2) calc(var(--s)*100%),var(--card))}"
    ".matrix td.miss{background:color-mix(in srgb,var(--c1) calc(var(--s)*100%),var(--card))}"
    ".matrix th{font-weight:400;max-width:11ch;padding:2px 8px 2px "
    "0;overflow:hidden;text-overflow:ellipsis;"
    "white-space:nowrap}.matrix thead th{text-align:center;padding:0 2px "
    "4px;max-width:4.5ch}.matrix.few thead th{max-width:14ch}\n",
    ".points{display:block;width:100%;max-width:760px;aspect-ratio:4/"
    "3;background:var(--card);border:1px solid var(--line);"
    "border-radius:10px}.points circle{fill:currentColor;opacity:.45}.points "
    "rect{fill:currentColor;stroke:var(--bg);"
    "stroke-width:.35}\n",
    "pre{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px "
    "16px;overflow-x:auto;"
    "font:13px/1.5 "
    "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:"
    "anywhere}\n",
    "pre.code{white-space:pre;overflow-wrap:normal}\n",
    ".panels.large{grid-template-columns:repeat(auto-fill,minmax(220px,1fr))}.panel svg.tall{"
    "height:130px}.scores .model{grid-column:1/-1;font-weight:600;margin-top:6px}\n",
    ".dim{opacity:.08!important}details>summary{cursor:pointer;color:var(--accent);padding:8px "
    "0}\n",
    "@media (max-width:560px){main{padding:20px 14px "
    "40px}h1{font-size:1.5rem}.class{grid-template-columns:1fr;gap:6px}"
    ".panels{grid-template-columns:repeat(auto-fill,minmax(96px,1fr))}.panels.large{"
    "grid-template-columns:1fr}.tile b{font-size:1.2rem}"
    ".tiles{grid-template-columns:1fr 1fr}.scores{grid-template-columns:1fr "
    "max-content;grid-auto-flow:dense}.scores "
    ".track{grid-column:1/-1;"
    "grid-row:auto;order:0}}\n",
    "@media "
    "print{:root{--bg:#fff;--fg:#000;--soft:#555;--line:#ccc;--card:#f7f7f7}main{max-width:none;"
    "padding:0}"
    ".chips{display:none}.class,.tile,pre,.panel{break-inside:avoid}h2{break-after:avoid}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n",
    NULL,
};

/* A class that is picked stays, the others fade; picked again, all are back. */
static const char report_script[] =
    "document.querySelectorAll('.chips').forEach(function(chips){chips.addEventListener('click',"
    "function(event){"
    "var button=event.target.closest('button');if(!button)return;"
    "var on=button.getAttribute('aria-pressed')!=='true';"
    "document.querySelectorAll('.chips button').forEach(function(other){"
    "other.setAttribute('aria-pressed',String(on&&other.dataset.c===button.dataset.c))});"
    "document.querySelectorAll('[data-c]:not(button)').forEach(function(item){"
    "item.classList.toggle('dim',on&&item.dataset.c!==button.dataset.c)})})});";

#endif
