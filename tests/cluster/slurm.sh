#!/bin/sh
# The job script of shapecond-cluster(7), run by a slurmctld and a slurmd of its own on this machine, and a
# pipeline with LAUNCH='srun ...': tests/cluster/slurm.sh BUILD
# Needs root.  Nothing of it touches a Slurm that is set up here: other ports, other files.
SC_BUILD=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tools/lib.sh
. "$here/../tools/lib.sh"
export SC_BUILD SC_ROOT

host=$(uname -n)
S=$scratch/slurm
mkdir -p "$S/state" "$S/spool" "$S/log" jobs
chmod 755 "$scratch" "$S"
head -c 1024 /dev/urandom >"$S/key" && chmod 400 "$S/key"
cat >"$S/slurm.conf" <<END
ClusterName=shapecond
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$S/munge
CryptoType=crypto/munge
SlurmctldPort=26817
SlurmdPort=26818
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd.pid
SlurmctldLogFile=$S/log/slurmctld
SlurmdLogFile=$S/log/slurmd
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
echo 'CgroupPlugin=cgroup/v1' >"$S/cgroup.conf"
export SLURM_CONF="$S/slurm.conf"

end_slurm() {
    for daemon in slurmd slurmctld munged; do
        if [ -s "$S/$daemon.pid" ]; then kill "$(cat "$S/$daemon.pid")" 2>/dev/null; fi
    done
    sleep 1
}
trap 'end_slurm; end_processes; rm -rf "$scratch"' EXIT

munged --force --key-file="$S/key" --socket="$S/munge" --pid-file="$S/munged.pid" --log-file="$S/log/munged" \
    --seed-file="$S/seed" >/dev/null 2>&1
slurmctld -f "$SLURM_CONF" -i >"$S/log/ctld.out" 2>&1
slurmd -f "$SLURM_CONF" >"$S/log/d.out" 2>&1
waits=0
until sinfo -h -o %t 2>/dev/null | grep -qE '^(idle|mix)'; do
    waits=$((waits + 1))
    if [ $waits -gt 100 ]; then
        echo "Slurm does not start:"
        tail -n 20 "$S"/log/*
        exit 1
    fi
    sleep 0.2
done
echo "# $(sinfo --version), node $(sinfo -h -o '%n %t %c CPUs')"

# The last literal display of the page is the job.
awk '/^\.Bd -literal/ { text = ""; inside = 1; next } /^\.Ed/ { inside = 0 } inside { text = text $0 "\n" }
     END { printf "%s", text }' "$SC_ROOT/man/shapecond-cluster.7" | sed 's/\\e/\\/g; s/\\-/-/g' >jobs/condense.sh
cd jobs || exit 1
sc-gen two-patterns -n 60 -o train.npy
sc-gen two-patterns -n 40 --seed 3 -o test.npy

test_that 'the job script of shapecond-cluster(7) runs, and its results are those of one process' '
    head -n 3 condense.sh
    sbatch --wait --output=job.log condense.sh
    cat job.log
    export SHAPECOND_CLUSTER=none
    sc-shapelets -q -k 10 train.npy -o one.slp
    cmp pool.slp one.slp
    sc-strans -q one.slp train.npy -o one-features.npy
    cmp features.npy one-features.npy
    sc-teacher -q --steps 200 train.npy -o one.tch
    cmp teacher.tch one.tch
    sc-select -q -m herding -n 5 -t teacher.tch --soft train.npy -o one-few.npy
    cmp few.npy one-few.npy
    sc-views -q -t teacher.tch -m 500 few.npy -o one-tiny.npy
    cmp tiny.npy one-tiny.npy
    sc-eval -q --seeds 3 --steps 200 tiny.npy test.npy -o one.tsv
    cmp scores.tsv one.tsv
'
test_that 'without srun a program in a job is one process' '
    printf "#!/bin/sh\nsc-strans -q pool.slp train.npy -o plain.npy\n" >plain.sh
    sbatch --wait --ntasks=3 --output=plain.log plain.sh || { cat plain.log; exit 1; }
    cmp features.npy plain.npy
'
test_that 'the tasks of srun are ranks' '
    srun -n3 --mpi=pmi2 sc-shapelets -k 10 train.npy -o three.slp 2>said
    cat said
    grep "sc-shapelets: 3 ranks sent" said
    test "$(grep -c . said)" = 2
    cmp pool.slp three.slp
'
test_that 'tasks that MPI does not connect are refused, so that they do not all write the same file' '
    fails 1 "the launcher has started 3 processes, but MPI knows of 1" srun -n3 --mpi=none sc-strans pool.slp train.npy -o none.npy
    test ! -e none.npy
'
test_that 'a task that is killed ends the step, and nothing is left' '
    sc-gen two-patterns -n 3000 -o long.npy
    mkdir out
    srun -n3 --mpi=pmi2 --kill-on-bad-exit=1 sc-shapelets --threads 1 --window full --measure-all long.npy -o out/long.slp 2>said &
    step=$!
    waits=0
    while [ "$(pgrep -fc "/?sc-shapelets --threads 1 .*out/long.slp")" -lt 4 ] && [ $waits -lt 100 ]; do
        waits=$((waits + 1))
        sleep 0.1
    done
    sleep 1
    for process in $(pgrep -x sc-shapelets); do
        if tr "\0" "\n" <"/proc/$process/environ" | grep -qx "SLURM_PROCID=1"; then kill -9 "$process"; fi
    done
    begun=$(date +%s)
    status=0
    wait $step || status=$?
    cat said
    test $status -ne 0
    test $(($(date +%s) - begun)) -le 30
    test -z "$(ls -A out)"
'
test_that 'a pipeline runs its steps through srun' '
    mkdir data
    cp train.npy data/train.npy
    cp test.npy data/val.npy
    cp test.npy data/test.npy
    for run in here there; do
        launch=
        if [ $run = there ]; then launch="srun -n1 -c1 --exact"; fi
        MAKEFLAGS= salloc -n2 make --no-print-directory -j2 -f "$SC_ROOT/pipelines/condense.mk" DATA=data RUN=$run SPC=2 SEEDS=1 \
            PRUNE="--ratio 0" SHAPELETS="-k 3 --lengths 12 --window 4" TEACHER="--steps 10" LAUNCH="$launch" \
            $run/pool.slp $run/plain.tch $run/views-2.tsv VIEWS="--views 20" STUDENT="--steps 10" >said-$run 2>&1 || { cat said-$run; exit 1; }
    done
    grep -c "^srun -n1 -c1 --exact sc-" said-there
    cmp here/pool.slp there/pool.slp
    cmp here/plain.tch there/plain.tch
    cmp here/views-2.tsv there/views-2.tsv
'
finish
