#!/bin/sh
# What `make` does where its Debian packages are missing.
. "$(dirname "$0")/lib.sh"

# Make knows no names with spaces, and the folder for temporary files may have some.
folder=$SC_BUILD/packages
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1

# Programs that take the place of others: no package is installed, nobody is root, and compilers only
# write down what they are asked to compile.
mkdir bin cuda cuda/bin cuda/include
cat >bin/dpkg-query <<'END'
#!/bin/sh
exit 1
END
cat >bin/sudo <<'END'
#!/bin/sh
exit 1
END
cat >bin/id <<'END'
#!/bin/sh
echo 1000
END
cat >bin/compiler <<END
#!/bin/sh
case " \$* " in
*" -dumpmachine "*) echo x86_64-linux-gnu ;;
*" --list-gpu-arch "*) echo compute_90 ;;
*" -c "*) echo "\$*" >>"$folder/compiled" ;;
esac
END
chmod 755 bin/*
ln -s ../../bin/compiler cuda/bin/nvcc
echo '#define CUDNN_MAJOR 9' >cuda/include/cudnn_version.h
: >cuda/include/cudnn.h

# made OPTION...: runs make that way; what it says is in the file said, what it compiled in compiled.
made() {
    rm -rf compiled made
    env PATH="$folder/bin:$PATH" make -C "$SC_ROOT" --no-print-directory BUILD="$folder/made" \
        CC="$folder/bin/compiler" CXX="$folder/bin/compiler" CLANG="$folder/bin/compiler" \
        NVCC="$folder/cuda/bin/nvcc" CUDA_HOME="$folder/cuda" CUDA=1 "$@" >said 2>&1
}

# -k tries whatever does not wait for the packages.
test_that 'nothing is compiled before the packages are there' '
    for goal in all check demo install lint fuzz fuzzers coverage check-faults check-asan check-clang \
        check-environments bench; do
        refute made -k -j4 DESTDIR="$folder/installed" "$goal"
        grep "^Missing Debian packages" said
        refute test -e compiled
    done
'
test_that 'one line says what to install' '
    refute made -j4 check
    test "$(grep -vc "^make: [*][*][*] " said)" = 1
    grep "^Missing Debian packages. As root, run: apt-get update && apt-get install .* libcmocka-dev .* mandoc" said
'
test_that 'PACKAGES= compiles without looking for them' '
    made -k -j4 PACKAGES= || true
    grep -q "formats/npy-c/npy-read.c" compiled
    grep -q "cuda/.*[.]cu" compiled
    refute grep "^Missing" said
'
finish
