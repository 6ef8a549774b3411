/* How the page looks, and the few lines that let a reader pick a class and read values. */
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
    ".panels{display:grid;gap:8px;grid-template-columns:repeat(auto-fill,minmax(max(var(--least,"
    "104px),calc((100% - (var(--n) - 1)*8px)/var(--n))),1fr))}"
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
    "opacity:.55}.counts{width:100%}.counts td:not(:last-child){width:1%;padding-right:24px}"
    ".counts td:first-child{white-space:nowrap;max-width:26ch;overflow:hidden;text-overflow:"
    "ellipsis}\n",
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
    "4px;max-width:4.5ch}.matrix.few thead th{max-width:14ch}"
    ".matrix.few td{min-width:76px}.matrix.few th{max-width:24ch}\n",
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
    ".lead{font-size:1.08rem;max-width:64ch;margin:8px 0 18px}.lead b{color:var(--fg)}"
    ".fill.other{background:var(--soft)!important;opacity:.55!important}"
    ".scores.stages{grid-template-columns:minmax(90px,max-content) 1fr repeat(2,max-content);"
    "gap:4px 16px}.stages .track{height:12px}.stages .n{text-align:right}.stages "
    "small{color:var(--soft)}"
    "svg.few{display:block;width:150px;height:34px;background:var(--card);border-radius:4px}"
    "svg.few path.real{opacity:.6;stroke:currentColor}\n",
    ".panels.large{grid-template-columns:repeat(auto-fit,minmax(220px,1fr))}.panel svg.tall{"
    "height:130px}.scores .model{grid-column:1/-1;font-weight:600;margin-top:6px}\n",
    ".dim{opacity:.14!important}details>summary{cursor:pointer;color:var(--accent);padding:8px "
    "0}\n",
    "#tip{position:fixed;z-index:1;pointer-events:none;background:var(--fg);color:var(--bg);"
    "font-size:.82rem;line-height:1.4;padding:4px 10px;border-radius:6px;white-space:pre-line;"
    "max-width:min(300px,90vw);overflow-wrap:anywhere}.panel svg,.points,.matrix td[data-n]{cursor:"
    "crosshair}path.hot{stroke-width:3;opacity:1}"
    "circle.hot,rect.hot{stroke:var(--fg);stroke-width:.7;opacity:1!important}\n",
    "@media (max-width:560px){.class .panel:nth-child(7):last-child{display:none}.counts "
    "td:first-child{max-width:13ch}.counts "
    "td:not(:last-child){padding-right:12px}.matrix.few td{min-width:34px}.matrix.few "
    "th{max-width:13ch}.matrix.few thead th{max-width:6ch}main{padding:20px 14px "
    "40px}h1{font-size:1.5rem}.class{grid-template-columns:1fr;gap:6px}"
    ".panels{--least:88px}.panels.large{grid-template-columns:1fr}.tile "
    "b{font-size:1.2rem}.tile:last-child:nth-child(odd)"
    "{grid-column:1/-1}svg.few{width:84px}.matrix:not(.few) td{min-width:20px;height:22px;"
    "font-size:.66rem;border-width:1px}.matrix:not(.few) th{font-size:.7rem;max-width:7ch}"
    ".matrix:not(.few) thead th{max-width:3ch}"
    ".scores.stages{grid-template-columns:1fr max-content 72px}.stages .track{display:none}"
    ".tiles{grid-template-columns:1fr 1fr}.scores{grid-template-columns:1fr "
    "max-content;grid-auto-flow:dense}.scores "
    ".track{grid-column:1/-1;"
    "grid-row:auto;order:0}}\n",
    "@media "
    "print{:root{--bg:#fff;--fg:#000;--soft:#555;--line:#ccc;--card:#f7f7f7;--c0:#0072b2;--c1:#"
    "d55e00;--c2:#009e73;--c3:#b3589a;--c4:#8a6d00;--c5:#3a8fc4;--c6:#c0392b;--c7:#4d5b6a}main{max-"
    "width:none;"
    "padding:0}"
    ".chips,#tip{display:none}pre.code{white-space:pre-wrap}.class,.tile,pre,.panel{break-inside:"
    "avoid}h2{break-after:avoid}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n",
    NULL,
};

/* The page can be read without this script, which reacts to the pointer. */
static const char *const report_script[] = {
    "(function(){'use strict';\n",
    "var all=function(what){return Array.from(document.querySelectorAll(what))};\n",

    /* Picking a class fades the others; picking it again, or Escape, shows all. */
    "function pick(name){all('.chips button').forEach(function(button){"
    "button.setAttribute('aria-pressed',String(button.dataset.c===name))});\n"
    "all('[data-c]:not(button)').forEach(function(item){"
    "item.classList.toggle('dim',name!==null&&item.dataset.c!==name)})}\n",
    "document.addEventListener('click',function(event){"
    "var button=event.target.closest('.chips button');"
    "if(button)pick(button.getAttribute('aria-pressed')==='true'?null:button.dataset.c)});\n",
    "document.addEventListener('keydown',function(event){"
    "if(event.key==='Escape'){pick(null);hide()}});\n",

    /* The note at the cursor, and what it is about. */
    "var tip=document.createElement('div'),hot=null;tip.id='tip';tip.hidden=true;"
    "document.body.appendChild(tip);\n",
    "function hide(){tip.hidden=true;if(hot)hot.classList.remove('hot');hot=null}\n",
    "function show(event,text,item){hide();tip.textContent=text;tip.hidden=false;"
    "hot=item;if(hot)hot.classList.add('hot');\n"
    "var x=event.clientX+14,y=event.clientY+18;"
    "if(x+tip.offsetWidth>innerWidth-8)x=Math.max(8,event.clientX-tip.offsetWidth-14);"
    "if(y+tip.offsetHeight>innerHeight-8)y=Math.max(8,event.clientY-tip.offsetHeight-14);"
    "tip.style.left=x+'px';tip.style.top=y+'px'}\n",

    /* Where a curve is at x, from its path; NaN where it is not. */
    "function height(path,x){var p=path.places||(path.places=path.getAttribute('d').slice(1)"
    ".split('L').map(function(t){return t.split(' ').map(parseFloat)})),n=p.length,i=0;\n"
    "if(x<p[0][0]-.5||x>p[n-1][0]+.5)return NaN;while(i<n-1&&p[i][0]<x)i++;"
    "if(i===0||p[i][0]<=x)return p[i][1];"
    "return p[i-1][1]+(p[i][1]-p[i-1][1])*(x-p[i-1][0])/(p[i][0]-p[i-1][0])}\n",

    /* The curve nearest to the cursor: its name, the step and the value. */
    "function curve(event,svg){var box=svg.getBoundingClientRect(),s=svg.dataset.s.split(' ')"
    ".map(Number),x=100*(event.clientX-box.left)/box.width,"
    "y=100*(event.clientY-box.top)/box.height,best=null,least=Infinity;\n"
    "var step=Math.round(Math.min(Math.max(x,0),100)*(s[0]-1)/100);"
    "x=s[0]>1?100*step/(s[0]-1):50;\n"
    "svg.querySelectorAll('path[data-n]').forEach(function(path){"
    "var d=Math.abs(height(path,x)-y);if(d<=least){least=d;best=path}});\n"
    "var text=svg.dataset.t?[svg.dataset.t]:[];if(best){var at=height(best,x),"
    "digits=Math.min(Math.max(2-Math.floor(Math.log10(s[2]-s[1])),0),8),"
    "axis=(svg.dataset.x||'').split(' ');\n"
    "var place=axis.length>2?axis.slice(2).join(' ')+' '+"
    "parseFloat((s[0]>1?+axis[0]+(axis[1]-axis[0])*step/(s[0]-1):+axis[0]).toPrecision(6))"
    ":(svg.classList.contains('tall')?'row ':'step ')+step;\n"
    "text.push(best.dataset.n+', '+place+': '+(at<=-50?'more than ':at>=150?'less than ':'')+"
    "(s[2]-(s[2]-s[1])*at/100).toFixed(digits))}\n"
    "if(text.length)show(event,text.join('\\n'),best);else hide()}\n",

    "function class_of(item){var button=document.querySelector('.chips button[data-c=\"'+"
    "item.dataset.c+'\"]'),name=button?button.textContent:item.dataset.c;"
    "return name.indexOf('class ')===0?name:'class '+name}\n",
    "function look(event){var svg=event.target.closest('svg[data-s]'),"
    "point=event.target.closest('.points [data-n]'),cell=event.target.closest('.matrix "
    "td[data-n]');"
    "\n"
    "if(svg)curve(event,svg);\n"
    "else if(point)show(event,(point.tagName==='rect'?'condensed':'real')+' series '+"
    "point.dataset.n+'\\n'+class_of(point),point);\n"
    "else if(cell)show(event,'true class: '+cell.parentNode.cells[0].textContent+'\\ntaken for: '+"
    "cell.closest('table').rows[0].cells[cell.cellIndex].textContent+'\\n'+cell.dataset.n+"
    "' predictions',null);\n"
    "else hide()}\n",
    "['pointermove','pointerdown'].forEach(function(kind){document.addEventListener(kind,look)});"
    "document.addEventListener('scroll',hide,true);"
    "document.documentElement.addEventListener('pointerleave',hide);\n",
    "})();",
    NULL,
};

#endif
