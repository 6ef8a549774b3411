#!/bin/sh
# The programs under mpirun, of each MPI that there is a plug-in for: tests/cluster/mpi.sh BUILD
#
# First tests/tools/cluster.sh with ranks of this machine.  Then hosts: network namespaces with names of their
# own, between which there is nothing but a bridge.  A delay and a loss of packets come from tc netem, or where the
# kernel has none from wire.py, which carries the packets of one host.  HOSTS_ONLY=1: without the first part.
SC_BUILD=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
: "${MPI:=$(for plugin in "$SC_BUILD"/lib/libshapecond-*mpi*.so; do basename "$plugin" .so | sed 's/libshapecond-//'; done)}"
# shellcheck source=tests/tools/lib.sh
. "$here/../tools/lib.sh"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 SC_BUILD SC_ROOT

# mpirun_of MPI: its mpirun, to which the number of ranks comes next.
mpirun_of() {
    case $1 in
    openmpi) echo "mpirun.openmpi --oversubscribe --bind-to none -n" ;;
    mpich) echo "mpirun.mpich -n" ;;
    esac
}

# ---- Hosts ----

hosts='shapecond-a shapecond-b shapecond-c'
remove_hosts() {
    for host in $hosts; do ip netns del "$host" 2>/dev/null; done
    ip link del shapecond-br 2>/dev/null
}
make_hosts() {
    remove_hosts
    ip link add shapecond-br type bridge && ip addr add 10.97.0.254/24 dev shapecond-br && ip link set shapecond-br up || return 1
    number=1
    : >hosts.txt
    for host in $hosts; do
        ip netns add "$host" && ip link add "sc-$number" type veth peer name eth0 netns "$host" &&
            ip link set "sc-$number" master shapecond-br up && ip -n "$host" addr add "10.97.0.$number/24" dev eth0 &&
            ip -n "$host" link set eth0 up && ip -n "$host" link set lo up || return 1
        echo "10.97.0.$number $host" >>hosts.txt
        number=$((number + 1))
    done
}
# Stands in for ssh: HOST COMMAND..., in the namespace of the host and under its name.
cat >agent <<'END'
#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
address=$1
shift
host=$(awk -v a="$address" '$1 == a || $2 == a { print $2 }' "$(dirname "$0")/hosts.txt")
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; cd "$1"; shift; exec sh -c "$*"' "$host" "$(dirname "$0")" "$@"
END
chmod +x agent

# on_hosts MPI COMMAND...: a rank on each of the three.
on_hosts() {
    kind=$1
    shift
    case $kind in
    openmpi) mpirun.openmpi --bind-to none --mca plm_rsh_agent "$scratch/agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca oob_tcp_if_include 10.97.0.0/24 --mca btl_tcp_if_include 10.97.0.0/24 --mca btl self,tcp \
        --host 10.97.0.1,10.97.0.2,10.97.0.3 -n 3 -x PATH "$@" </dev/null ;;
    # UCX would find that the hosts are one machine and use its memory.
    mpich) UCX_TLS=tcp,self mpirun.mpich -launcher ssh -launcher-exec "$scratch/agent" -localhost 10.97.0.254 \
        -hosts 10.97.0.1,10.97.0.2,10.97.0.3 -n 3 "$@" </dev/null ;;
    esac
}

sc-gen two-patterns -n 48 -o train.npy
sc-gen two-patterns -n 3000 -o long.npy
SHAPECOND_CLUSTER=none sc-shapelets -q -k 6 --select diverse train.npy -o alone.slp
long="sc-shapelets --cluster-timeout 3 --threads 1 --window full --measure-all long.npy -o out/long.slp"

# begin COMMAND...: a long run in the background; rank N is found by what the launcher gave it.
begin() {
    rm -rf out && mkdir out
    "$@" >said 2>&1 &
    job=$!
    waits=0
    while [ "$(pgrep -fc "^sc-shapelets .*$scratch|^sc-shapelets .* long.npy")" -lt 3 ] && [ $waits -lt 300 ]; do
        waits=$((waits + 1))
        sleep 0.1
    done
    sleep 1
}
process_of_rank() {
    for process in $(pgrep -f "^sc-shapelets .* long.npy"); do
        if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1"; then echo "$process"; fi
    done
}
# ends SECONDS: the run fails in that time, leaves no process and no file.
ends() {
    begun=$(date +%s)
    status=0
    wait "$job" || status=$?
    echo "# ended after $(($(date +%s) - begun)) s, status $status"
    cat said
    test $status -ne 0
    test $(($(date +%s) - begun)) -le "$1"
    sleep 1
    test -z "$(pgrep -f "^sc-shapelets .* long.npy")"
    test -z "$(ls -A out)"
}

status_of_all=0
for mpi in $MPI; do
    launcher=$(mpirun_of "$mpi")
    echo "# ---- $mpi: $(${launcher%% *} --version 2>/dev/null | grep -m1 -iE 'version|mpirun')"
    if [ -z "${HOSTS_ONLY-}" ]; then
        CLUSTER_LAUNCH=$launcher "$here/../tools/cluster.sh" | sed "s/^\\(not \\)\\{0,1\\}ok [0-9]*/& $mpi:/; /^1\\.\\./d" >report
        cat report
        if grep -q "^not ok" report || ! grep -q "^ok" report; then status_of_all=1; fi
    fi

    test_that "$mpi: --cluster mpi without a launcher is one rank" '
        sc-shapelets -q --cluster mpi -k 6 --select diverse train.npy -o one.slp
        cmp alone.slp one.slp
    '
    test_that "$mpi: an error of one rank is told by rank 0, with rank and host" '
        cat >uneven <<END
#!/bin/sh
case \${OMPI_COMM_WORLD_RANK-\$PMI_RANK} in 2) file=missing.npy ;; *) file=train.npy ;; esac
exec sc-shapelets \$file -o uneven.slp
END
        chmod +x uneven
        status=0
        $launcher 3 ./uneven >said 2>&1 || status=$?
        cat said
        test $status -ne 0
        grep "sc-shapelets: rank 2 on $(uname -n): missing.npy: No such file" said
        test ! -e uneven.slp
    '
    test_that "$mpi: a rank that is killed ends the run, and nothing is left" '
        begin $launcher 3 $long
        kill -9 "$(process_of_rank 1)"
        ends 30
        grep -iE "rank 1|KILLED|signal 9|exit code: 9|EXIT CODE" said
    '
    test_that "$mpi: a rank that stalls is given up, with rank and host" '
        begin $launcher 3 $long
        stalled=$(process_of_rank 2)
        kill -STOP "$stalled"
        (sleep 15; kill -CONT "$stalled" 2>/dev/null) &
        ends 40
        grep "sc-shapelets: rank 2 on $(uname -n) has given no sign of life for 3 s" said
    '
    if make_hosts 2>hosts.log; then
        # shellcheck disable=SC2016
        test_that "$mpi: three hosts that are network namespaces give the same bytes" '
            on_hosts $mpi sh -c "hostname" | sort >names
            cat names
            test "$(tr "\n" " " <names)" = "shapecond-a shapecond-b shapecond-c "
            on_hosts $mpi sc-shapelets -k 6 --select diverse train.npy -o hosts.slp
            cmp alone.slp hosts.slp
        '
        test_that "$mpi: a host that is cut off is given up within seconds, with rank and host" '
            begin on_hosts $mpi $long
            sleep 8 # MPI itself must have started: until then only the launcher can notice
            ip link set sc-2 down
            waits=0
            until grep -qE "shapecond-b|10\.97\.0\.2" said || [ $waits -gt 300 ]; do
                waits=$((waits + 1))
                sleep 0.1
            done
            echo "# after $((waits / 10)) s:"
            cat said
            grep -E "shapecond-b|10\.97\.0\.2" said
            sleep 3
            test -z "$(process_of_rank 0)"
            test -z "$(ls -A out)"
            # mpirun itself may wait for the host for longer.
            ip link set sc-2 up
            kill $job 2>/dev/null || true
            wait $job || true
        '
        ip link set sc-2 up
        if ! tc -n shapecond-b qdisc add dev eth0 root netem delay 10ms loss 1% 2>/dev/null; then
            ip -n shapecond-b link set eth0 down
            "$here/wire.py" sc-wire shapecond-b wire0 10 0.01 >wire.out 2>wire.err &
            wire=$!
            waits=0
            until grep -q ready wire.out || [ $waits -gt 50 ]; do waits=$((waits + 1)); sleep 0.1; done
            ip link set sc-wire master shapecond-br up
            ip -n shapecond-b addr flush dev eth0
            ip -n shapecond-b addr add 10.97.0.2/24 dev wire0
            ip -n shapecond-b link set wire0 up
        fi
        test_that "$mpi: the same bytes with 10 ms of delay and 1 % of loss each way to one host" '
            begun=$(date +%s%N)
            on_hosts $mpi sc-shapelets -k 6 --select diverse train.npy -o hosts.slp
            echo "$mpi, 3 hosts, delay and loss: sc-shapelets $((($(date +%s%N) - begun) / 1000000)) ms" >>times
            cmp alone.slp hosts.slp
            begun=$(date +%s%N)
            on_hosts $mpi sc-teacher --steps 10 train.npy -o hosts.tch
            echo "$mpi, 3 hosts, delay and loss: sc-teacher --steps 10 $((($(date +%s%N) - begun) / 1000000)) ms" >>times
            SHAPECOND_CLUSTER=none sc-teacher -q --steps 10 train.npy -o alone.tch
            cmp alone.tch hosts.tch
        '
        if [ -n "${wire-}" ]; then
            kill "$wire"
            wait "$wire" 2>/dev/null
            sed "s/^/# $mpi: wire.py /" wire.err
            wire=
        fi
        sed 's/^/# /' times 2>/dev/null
        rm -f times
        remove_hosts
    else
        remove_hosts
        skip_that "$mpi: hosts that are network namespaces" "$(head -n 1 hosts.log)"
    fi
done
if [ -z "$MPI" ]; then echo "no plug-in in $SC_BUILD/lib" && exit 1; fi
echo "1..$test_count"
[ "$test_failures" -eq 0 ] && [ "$status_of_all" -eq 0 ]
