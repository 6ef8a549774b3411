#!/bin/sh
# mutations.sh [-b BUILD] [-f FIRST] [-l LAST] [-n NUMBERS]
# Breaks the CUDA sources in one place after another (an off-by-one, a lost term, a wrong index, a
# wait left out) and runs the tests on each: every one of them must fail.  Takes minutes; run it by
# hand after `make check` when kernels or their tests change.  Mutants are numbered, so that a run
# can continue where another stopped, or try some again.  Ends with how many were tried and how many
# live.  Five of the 298 change no result, but read beside their memory, which sanitizers alone
# notice; after `make check-asan`:
#     CXXFLAGS=-fsanitize=address,undefined tests/fake_cuda/mutations.sh -b build/asan \
#         -n '135 247 249 253 259'
set -u
cd "$(dirname "$0")/../.." || exit 1
build=build first=1 last=1000000 numbers=
while getopts b:f:l:n: option; do
    case $option in
    b) build=$OPTARG ;;
    f) first=$OPTARG ;;
    l) last=$OPTARG ;;
    n) numbers=" $OPTARG " ;;
    *) exit 2 ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$build"/tests/test_cuda_* "$work/"
number=0 tried=0 alive=0
version=$(sed -n 's/^VERSION := //p' Makefile)
interface=$(grep -ao "$version-[0-9]*" "$build/tests/libshapecond-cuda-fake.so" | head -n 1)

compile() {
    # shellcheck disable=SC2086 # one flag per word
    c++ -std=c++17 -O0 -fPIC ${CXXFLAGS-} -D_GNU_SOURCE -DSHAPECOND_INTERFACE="\"$interface\"" \
        -Itests/fake_cuda/include -Itests/fake_cuda -I. -Ilib "$@"
}
# The headers, which take most of the time, only once.
for header in device normact_rows; do
    compile -x c++-header -o "$work/$header.h.gch" cuda/$header.h
done

# build_plugin FILE: the plug-in with all that includes FILE compiled from $work/cuda.
build_plugin() {
    rm -f "$work"/*.o
    case $1 in *.cu) cp "$work"/*.gch "$work/cuda/" ;; esac
    objects=
    for source in cuda/*.cu tests/fake_cuda/*.cpp; do
        object=$build/fake/$source.o
        if grep -q "cuda/$1\\( \\|\$\\)" "$build/fake/$source.d" && [ -e "$work/$source" ]; then
            object=$work/$(basename "$source").o
            compile -x c++ -c -o "$object" "$work/$source" || return
        fi
        objects="$objects $object"
    done
    # shellcheck disable=SC2086 # one object per word
    c++ -shared ${CXXFLAGS-} -o "$work/libshapecond-cuda-fake.so" $objects
}

# tests_pass FILE: whether those that may notice what happens in FILE do not.
tests_pass() {
    case $1 in
    normact* | pooling* | attention* | rownorm* | gru*) tests='network training kernels' ;;
    shapelets*) tests='shapelets' ;;
    kernel*) tests='kernels shapelets network' ;;
    *) tests='kernels training shapelets' ;;
    esac
    for test in $tests; do
        CMOCKA_TEST_ABORT=1 timeout 120 "$work/test_cuda_$test" >/dev/null 2>&1 || return 1
    done
}

# is_due: counts a mutant; whether it is to be tried.
is_due() {
    number=$((number + 1))
    [ "$number" -ge "$first" ] && [ "$number" -le "$last" ] || return 1
    case $numbers in '' | *" $number "*) ;; *) return 1 ;; esac
    rm -rf "$work/cuda"
    cp -r cuda "$work/cuda"
    tried=$((tried + 1))
}

# try FILE WHAT: the mutant in $work/cuda.
try() {
    if cmp -s "cuda/$1" "$work/cuda/$1"; then
        echo "$number NOT FOUND $1 $2"
        alive=$((alive + 1))
    elif ! build_plugin "$1"; then
        echo "$number NOT COMPILED $1 $2"
        alive=$((alive + 1))
    elif tests_pass "$1"; then
        echo "$number ALIVE $1 $2"
        alive=$((alive + 1))
    else
        echo "$number dead $1 $2"
    fi
}

# mutate FILE COUNT FROM TO: replaces in the COUNT-th line that contains FROM (a fixed string).
mutate() {
    is_due || return 0
    awk -v n="$2" -v from="$3" -v to="$4" '
        { at = index($0, from) }
        at && ++seen == n { $0 = substr($0, 1, at - 1) to substr($0, at + length(from)) }
        { print }' "cuda/$1" >"$work/cuda/$1"
    try "$1" "$2: $3 -> $4"
}

# sweep FILE: every loop of a kernel over its grid, one item short and one too many.
sweep() {
    # shellcheck disable=SC2013 # numbers
    for line in $(awk '/for \(EACH/ { print NR }' "cuda/$1"); do
        for more in '- 1' '+ 1'; do
            is_due || continue
            sed -E "$line s/(EACH[A-Z_]*\([a-z]+, )(.*)\)\)/\1(\2) $more))/" "cuda/$1" >"$work/cuda/$1"
            try "$1" "line $line, $more: $(sed -n "$line s/^ *//p" "cuda/$1")"
        done
    done
}

# What is not broken passes, built in the same way.
cp -r cuda "$work/cuda"
if ! build_plugin kernel.h || ! tests_pass kernel.h || ! tests_pass plugin.cu; then
    echo "the tests fail on what is not broken"
    exit 1
fi

# Grids and how threads share them out.
mutate kernel.h 1 'i += gridDim.x * (size_t)blockDim.x' 'i += gridDim.x * (size_t)blockDim.x + 1'
mutate kernel.h 1 'i += gridDim.y * (size_t)blockDim.y' 'i += (gridDim.y + 1) * (size_t)blockDim.y'
mutate kernel.h 1 'blockIdx.x * (size_t)blockDim.x + threadIdx.x' 'threadIdx.x'
mutate kernel.h 1 'blockIdx.y * (size_t)blockDim.y + threadIdx.y' 'threadIdx.y'
mutate kernel.h 1 'size_t i = blockIdx.z;' 'size_t i = blockIdx.z + 1;'
# Copies, transposes, optimisers.
mutate elementwise.cu 1 'row + r < rows' 'row + r + 1 < rows'
mutate elementwise.cu 1 'column + c < columns' 'column + c + 1 < columns'
mutate elementwise.cu 1 'tile[threadIdx.x][c]' 'tile[c][threadIdx.x]'
mutate elementwise.cu 1 'i / across_tiles * TILE' 'i / down_tiles * TILE'
mutate elementwise.cu 1 'add ? out[n * out_sample + i] + value : value' 'value'
mutate elementwise.cu 1 'batch ? *batch * size : 0' '0'
mutate elementwise.cu 1 'order[first + n]' 'order[n]'
mutate elementwise.cu 1 'a * x[i] + b * y[i]' 'x[i] + b * y[i]'
mutate elementwise.cu 1 '++*counter' '*counter += 2'
mutate elementwise.cu 1 '<= FLT_MAX' '< FLT_MAX'
mutate elementwise.cu 1 '*found = 1' '*found += 1'
mutate elementwise.cu 1 'n < count; n += gridDim.z' 'n + 1 < count; n += gridDim.z'
mutate elementwise.cu 1 'i < across_tiles * down_tiles' 'i + 1 < across_tiles * down_tiles'
mutate elementwise.cu 1 'r < TILE; r +=' 'r + 1 < TILE; r +='
mutate elementwise.cu 1 'c < TILE; c +=' 'c + 1 < TILE; c +='
mutate elementwise.cu 1 'size_t block = 1; block < blocks' 'size_t block = 1; block + 1 < blocks'
mutate elementwise.cu 1 'steps[index ? *index : 0]' 'steps[0]'
mutate elementwise.cu 2 'steps[index ? *index : 0]' 'steps[0]'
mutate elementwise.cu 1 'step.momentum * velocity[i]' 'velocity[i]'
mutate elementwise.cu 1 '* step.root + step.epsilon' '+ step.epsilon'
mutate elementwise.cu 1 'values[i] * step.shrink' 'values[i]'
mutate elementwise.cu 1 'loss < *best.best' 'loss <= *best.best'
mutate elementwise.cu 1 'best.history[2 * *best.step + 1]' 'best.history[2 * *best.step]'
mutate elementwise.cu 1 'if (*better)' 'if (true)'
mutate elementwise.cu 2 'if (*better)' 'if (true)'
# Convolutions.
mutate convolution.cu 1 'o < outputs && i < inputs' 'o < outputs && i + 1 < inputs'
mutate convolution.cu 1 'taps - 1 - k : k' 'k : k'
mutate convolution.cu 1 'o < outputs ? bias[o]' 'o + 1 < outputs ? bias[o]'
mutate convolution.cu 1 '(o * inputs + i) * kernel + k' '(o * inputs + i) * kernel + kernel - 1 - k'
mutate convolution.cu 1 'row += gridDim.y * HIGH' 'row += gridDim.y * HIGH + 1'
mutate convolution.cu 1 'int y = 0; y < HIGH' 'int y = 1; y < HIGH'
mutate convolution.cu 1 'threadIdx.y; row < rows' 'threadIdx.y; row + 1 < rows'
mutate convolution.cu 1 'if (c < columns)' 'if (c + 1 < columns)'
mutate convolution.cu 1 'c >= columns)' 'c + 1 >= columns)'
mutate convolution.cu 1 'size_t part = 0; part < parts' 'size_t part = 1; part < parts'
mutate convolution.cu 1 'to[c] += (float)sum' 'to[c] = (float)sum'
mutate convolution.cu 1 'CUDNN_DETERMINISTIC &&' 'CUDNN_DETERMINISTIC ||'
mutate convolution.cu 1 'beta = add && dx == din ? 1.0f : 0.0f' 'beta = 0.0f'
mutate convolution.cu 1 'if (!add)' 'if (true)'
mutate convolution.cu 1 'return from - halo * stride' 'return from'
mutate convolution.cu 1 'from - halo * stride, sample, copy' 'from, sample, copy'
mutate convolution.cu 1 'tap = k + taps - kernel' 'tap = k'
mutate convolution.cu 1 'a->count == b->count &&' ''
mutate convolution.cu 1 'k ? &one : &beta' '&beta'
mutate convolution.cu 1 'x + k * p->ins' 'x'
mutate convolution.cu 1 'k > p->pad ? k - p->pad : 0' '0'
mutate convolution.cu 1 'p->pad - k : 0' 'p->pad - k - 1 : 0'
mutate convolution.cu 1 'plan->usable =' 'bool unused __attribute__((unused)) ='
# Normalisation, activation, pooling.
mutate normact_math.h 1 'window->y[1] <= window->y[0] ?' 'window->y[1] < window->y[0] ?'
mutate normact_math.h 1 '(window->y[1] <= window->y[0]) == (w == 0)' '(w == 0)'
mutate normact_math.h 1 'return value * 0.5f' 'return value'
mutate normact_math.h 1 'a * BACKEND_LEAKY_SLOPE' '0.0f'
mutate normact_math.h 1 'x * BACKEND_LEAKY_SLOPE' '0.0f'
mutate normact_math.h 1 'call->first + sample : 0' '0 : 0'
mutate normact_math.h 1 'out.x * tangent->mean_xrz' 'tangent->mean_xrz'
mutate normact_math.h 1 'out.da * (1.0f - y - y) * ra' '0.0f'
mutate normact_math.h 1 'call->normact.tangent_gamma[value] * n.x +' ''
mutate normact_math.h 1 'tangent->slope * (call->z[at] - lane->mean)' '0.0f'
mutate normact_math.h 1 'size_t step = width * t + w' 'size_t step = width * t'
mutate normact_sums.cu 1 'row / steps' '0'
mutate normact_sums.cu 1 'row % steps' '(row % steps) / 2'
mutate normact_sums.cu 1 'row += gridDim.y * HIGH' 'row += gridDim.y * HIGH + HIGH'
mutate normact_sums.cu 1 'int y = 0; y < HIGH' 'int y = 1; y < HIGH'
mutate normact_sums.cu 1 'size_t part = 0; part < parts' 'size_t part = 1; part < parts'
mutate normact_sums.cu 1 'size_t group = 0; group < groups; group++)' 'size_t group = 1; group < groups; group++)'
mutate normact_sums.cu 1 'one.b * gamma + both.before.da * rgamma * both.n.x' 'one.b * gamma'
mutate normact_sums.cu 1 'one.a * gamma + both.before.da * rgamma' 'one.a * gamma'
mutate normact_sums.cu 1 'squares - sum * sum / n) / n' 'squares) / n'
mutate normact_sums.cu 1 'c < shape->channels; c += LINE' 'c + 1 < shape->channels; c += LINE'
mutate normact.cu 1 'c < shape->channels; c += LINE' 'c + 1 < shape->channels; c += LINE'
mutate normact.cu 2 'c < shape->channels; c += LINE' 'c + 1 < shape->channels; c += LINE'
mutate normact_sums.cu 1 'c < shape->stride; c += LINE' 'c + 1 < shape->channels; c += LINE'
mutate normact.cu 1 'n > 1 ? n / (n - 1) : 1.0' '1.0'
mutate normact.cu 1 'slope * (centre - mean)' '0'
mutate normact.cu 1 'if (!squared)' 'if (squared)'
mutate normact.cu 1 'row_of(&call, 0, NORMACT_OFFSET)[c] += ' 'row_of(&call, 0, NORMACT_OFFSET)[c] -= '
mutate normact_sums.cu 1 'size_t n = 0; n < call.count; n++' 'size_t n = 1; n < call.count; n++'
mutate normact_tangent.cu 1 'x.rx * row_of(call, n, NORMACT_MEAN_GX)[c]' '0'
mutate normact_tangent.cu 1 'tangent->mean_xrz * dz' '0'
mutate normact_tangent.cu 1 'row_of(call, n, NORMACT_TANGENT_GAMMA_RSTD)[c] * g.da' '0'
mutate normact.cu 1 'call.dbeta[c] = (float)a' 'call.dbeta[c] = (float)b'
mutate normact_tangent.cu 1 'call.dbeta[c] = (float)a' 'call.dbeta[c] = (float)b'
mutate normact_rows.h 1 'rgamma * row_of(call, sample, NORMACT_MEAN_DAX)[c] +' ''
mutate normact_rows.h 1 'rbeta - scale * mean_rz' '-scale * mean_rz'
mutate normact_rows.h 1 'shape->pooled + shape->steps -' 'shape->steps -'
mutate normact_rows.h 1 'return shape->pooled + shape->steps - (shape->pool == POOL_NONE ? 1 : 2) * shape->pooled' 'return shape->pooled'
mutate normact_rows.h 1 'block < normact->blocks' 'block + 1 < normact->blocks'
mutate normact.cu 1 'row_of(call, n, NORMACT_SLOPE)[c] * (' '0 * ('
mutate normact.cu 1 't >= shape->pooled' 't > shape->pooled'
mutate normact_tangent.cu 1 't >= shape->pooled' 't > shape->pooled'
mutate normact_sums.cu 1 'group < groups; group += gridDim.z' 'group + 1 < groups; group += gridDim.z'
mutate normact_sums.cu 1 'threadIdx.y; row < rows' 'threadIdx.y; row + 1 < rows'
mutate normact_sums.cu 1 'sample < call.count; sample += gridDim.x' 'sample + 1 < call.count; sample += gridDim.x'
mutate normact_sums.cu 1 'if (c < stride)' 'if (c + 1 < stride)'
mutate normact_sums.cu 1 'c >= stride)' 'c + 1 >= stride)'
mutate normact_sums.cu 1 'int i = 0; i < LINE' 'int i = 1; i < LINE'
mutate normact.cu 1 'int i = 0; i < LINE' 'int i = 1; i < LINE'
# Losses.
mutate loss.cu 1 'size_t v = 1; v < classes' 'size_t v = 2; v < classes'
mutate loss.cu 1 'size_t v = 0; v < classes; v++' 'size_t v = 1; v < classes; v++'
mutate loss.cu 1 'expf(log_p) * total - q' 'expf(log_p) - q'
mutate loss.cu 1 'log_q - log_p - (float)value' 'log_q - log_p'
mutate loss.cu 1 'size_t i = threadIdx.x; i < count; i += LINE' 'size_t i = threadIdx.x; i + 1 < count; i += LINE'
mutate loss.cu 1 'int i = 0; i < LINE' 'int i = 0; i < LINE - 1'
mutate loss.cu 1 'index ? *index : 0' '0'
mutate loss.cu 1 'p * total_moved' '0'
mutate loss.cu 1 '(rlog_q - rlog_p - moved_m)' '(rlog_q - rlog_p)'
mutate loss.cu 1 'row[v] > row[best]' 'row[v] < row[best]'
# Shapelets.
mutate shapelets.cu 1 'length - from > CHUNK ? from + CHUNK : length' 'length - from > CHUNK ? from + CHUNK : length - 1'
mutate shapelets.cu 1 'i < shapelet->places; i += LINE' 'i + 1 < shapelet->places; i += LINE'
mutate shapelets.cu 1 'square < best' 'square <= best'
mutate shapelets.cu 1 'least[i] == best && least_at[i] < best_at' 'least[i] == best && least_at[i] > best_at'
mutate shapelets.cu 2 'shapelet->low + best_at' 'best_at'
mutate shapelets.cu 1 't < place || t >= place + shapelet->length' 't < place || t > place + shapelet->length'
mutate shapelets.cu 1 'distance <= 0 ||' ''
mutate shapelets.cu 1 'place >= 0 && place < (ptrdiff_t)call->steps' 'place >= 0 && place + 1 < (ptrdiff_t)call->steps'
mutate shapelets.cu 2 'to[t * call.series] = sum' 'to[t * call.series] = 0'
mutate shapelets.cu 1 'is_inside(&call, end - 1, shift)' 'is_inside(&call, start, shift)'
mutate shapelets.cu 1 'size_t k = 0; k < call.shifts' 'size_t k = 1; k < call.shifts'
mutate shapelets.cu 1 'i % DISTANCE_LANES' '0'
mutate shapelets.cu 1 '2 * half + 1' '2 * half'
mutate shapelets.cu 1 'n < count; n += gridDim.z' 'n + 1 < count; n += gridDim.z'
mutate shapelets.cu 1 'k < state.count; k += gridDim.x' 'k + 1 < state.count; k += gridDim.x'
mutate shapelets.cu 1 '*least < doubt' 'false'
mutate shapelets.cu 1 'j <= last && j <= start + half' 'j < last && j <= start + half'
mutate shapelets.cu 1 'j <= last && j <= start + half' 'j <= last && j < start + half'
mutate shapelets.cu 1 'start > half ? start - half : 0' 'start > half ? start - half + 1 : 0'
mutate shapelets.cu 1 'first += worker->shifts' 'first += worker->shifts + 1'
mutate shapelets.cu 1 'all - first < worker->shifts ? all - first : worker->shifts' 'worker->shifts'
mutate shapelets.cu 1 't + call.grain <= call.to' 't + call.grain < call.to'
mutate shapelets.cu 1 'is_inside(&call, t + call.grain - 1, shift)' 'true'
mutate shapelets.cu 1 'is_inside(&call, t, shift) && is_inside' 'is_inside'
mutate shapelets.cu 1 'call.from - call.from % call.grain' 'call.from + call.grain'
mutate shapelets.cu 1 'i < grain; i++' 'i + 1 < grain; i++'
mutate shapelets.cu 1 'if (grain == 1)' 'if (false)'
mutate shapelets.cu 1 '__fadd_rn(sum, __fmul_rn(difference, difference))' '(float)(sum + (double)difference * difference)'
mutate shapelets.cu 1 'lane < DISTANCE_LANES' 'lane + 1 < DISTANCE_LANES'
mutate shapelets.cu 1 'first * DISTANCE_LANES * worker->steps' '0'
# The device.
mutate plugin.cu 1 'device.used + bytes > HALF' 'false'
mutate plugin.cu 1 'done += some' 'done += some + 1'
mutate plugin.cu 1 'if (faulty)' 'if (false)'
# Waiting.
mutate plugin.cu 1 'cudaStreamWaitEvent(device.stream, device.uploaded, 0)' 'cudaSuccess'
mutate plugin.cu 1 'cudaStreamWaitEvent(device.uploads, device.computed, 0)' 'cudaSuccess'
mutate plugin.cu 1 'cudaEventSynchronize(device.copied[device.half])' 'cudaSuccess'
mutate plugin.cu 1 'cudaEventRecord(device.copied[device.half], device.uploads)' 'cudaSuccess'
mutate plugin.cu 1 'cudaEventRecord(device.computed, device.stream)' 'cudaSuccess'
mutate plugin.cu 1 'cudaEventRecord(device.uploaded, device.uploads)' 'cudaSuccess'
mutate plugin.cu 1 'device.uploads));' 'device.stream));'
mutate shapelets.cu 1 'cudaStreamSynchronize(worker->stream)' 'cudaSuccess'
# All loops over grids.
for file in moves convolution normact normact_sums normact_tangent loss shapelets; do
    sweep $file.cu
done
# Even kernels, tensors with gaps, pooling of all steps.
mutate convolution.cu 1 'from_i + tap - empty' 'from_i + tap'
mutate convolution.cu 1 'else if (y != out)' 'else if (false)'
mutate convolution.cu 1 'if (from != to)' 'if (false)'
mutate convolution.cu 1 'floats, to, sample, add);' 'floats, to, sample, false);'
mutate pooling.cu 1 'value > best ||' 'value >= best ||'
mutate pooling.cu 1 'size_t t = 1; t < shape.steps' 'size_t t = 1; t + 1 < shape.steps'
mutate pooling.cu 1 'size_t t = 0; t < shape.steps' 'size_t t = 1; t < shape.steps'
mutate pooling.cu 1 'value *= share' 'value *= 1.0f'
mutate pooling.cu 1 '== t ? value : 0.0f' '== t ? value : value'
mutate pooling.cu 1 'place * shape.stride + c' 'c'
mutate normact.cu 1 '(dmean / n + slope' '(slope'
sweep pooling.cu
# Attention, normalisation of steps, dropout, recurrent layers.
mutate attention.cu 1 'fmaxf(largest, values[i])' 'values[i]'
mutate attention.cu 1 '* scale);' '* 1.0f);'
mutate attention.cu 1 'i = 1; threadIdx.x == 0' 'i = 2; threadIdx.x == 0'
mutate attention.cu 1 'sum += values[i];' 'sum += 1;'
mutate attention.cu 1 'int i = 0; i < ROW' 'int i = 1; i < ROW'
mutate attention.cu 1 '- (float)parts[0])' ')'
mutate attention.cu 1 '(double)p[i] * rd[i];' '0;'
mutate attention.cu 1 'rd[i] - (float)rparts[0]' 'rd[i]'
mutate attention.cu 1 'd[i] = scale * p[i] * centred' 'd[i] = p[i] * centred'
mutate attention.cu 1 'head->number * head->steps, head->steps' '0, head->steps'
mutate attention.cu 1 'mask, head->first' 'mask, 0'
mutate attention.cu 1 'first + n,' 'first,'
mutate attention.cu 1 'turned ? CUBLAS_OP_T' 'turned ? CUBLAS_OP_N'
mutate attention.cu 1 'in + n * ins, Q' 'in, Q'
mutate attention.cu 2 'in + n * ins, V' 'in, V'
mutate attention.cu 1 'from_square(head, dp, false, rk, true, rdq)' 'from_square(head, dp, false, rk, false, rdq)'
mutate attention.cu 1 'to_square(head, 3, d, rv, true);' ';'
mutate attention.cu 1 'drop(head, rdp, rdp);' ';'
mutate attention.cu 1 'from_square(head, dp, true, rq, true, rdk);' ';'
mutate rownorm.cu 1 '+ 1e-5' '+ 1e-3'
mutate rownorm.cu 1 '+ norm.beta[c]' ''
mutate rownorm.cu 1 'sum_x += g * xh' 'sum_x += g'
mutate rownorm.cu 1 'dy[c] * xh) : 0.0f' 'dy[c]) : 0.0f'
mutate rownorm.cu 1 '+ norm.tangent_gamma[c] * xh' ''
mutate rownorm.cu 1 '+ dy[c] * rxh)' ')'
mutate rownorm.cu 1 '- t.b * dz' ''
mutate rownorm.cu 1 'to + stride);' 'to);'
mutate rownorm.cu 1 'round < 10' 'round < 9'
mutate rownorm.cu 1 '(mask.dropout.more ? *mask.dropout.more : 0)' '0'
mutate rownorm.cu 1 'key >> 32)},' 'key)},'
mutate rownorm.cu 1 '256 * mask.layer' '256'
mutate rownorm.cu 1 '(uint32_t)(first + n)' '(uint32_t)n'
mutate rownorm.cu 1 '>= threshold ? scale' '>= threshold ? 1.0f'
mutate rownorm.cu 1 'first_row + row' 'row'
mutate gru.cu 1 '+ r * hn)' '+ hn)'
mutate gru.cu 1 'p->t ? out' 'p->t > 1 ? out'
mutate gru.cu 1 '(1.0f - z) * value + z' '(1.0f - z) * value + '
mutate gru.cu 1 'to[2 * hidden] = dn * r;' 'to[2 * hidden] = dn;'
mutate gru.cu 1 'dh[m * p.states + i] = d * z;' 'dh[m * p.states + i] = d;'
mutate gru.cu 1 '+ rr * hn + r * rhn' '+ r * rhn'
mutate gru.cu 1 'rd * z + d * rz' 'rd * z'
mutate gru.cu 1 'rdan * r + dan * rr' 'rdan * r'
mutate gru.cu 1 '- 2.0f * dn * n * rn' ''
mutate gru.cu 1 'ins, 1, out' 'ins, 0, out'
mutate gru.cu 1 'if (gru->tangent_backward)' 'if (false)'
mutate gru.cu 1 'add_weights(shape, count, rout, s.dgh, false, gradient);' ';'
mutate gru.cu 1 'if (bias)' 'if (false)'
mutate gru.cu 1 'CUDA(cudaMemsetAsync(scratch.dh, 0, count' 'CUDA(cudaMemsetAsync(scratch.dh, 0, 0 * count'
sweep rownorm.cu
sweep gru.cu

echo "$tried mutants tried of $number, $alive alive"
[ "$alive" -eq 0 ]
