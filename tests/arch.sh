# SPDX-License-Identifier: MIT
# The unit tests on another architecture, by qemu-user; sourced by tools/check,
# with its functions and $arch.  Its libraries come from this machine's own
# Debian mirror, are unpacked into build/ARCH/sysroot, and change no package
# of this machine: apt gets folders of its own.

case $arch in
  aarch64) debian_arch=arm64 loader=lib/ld-linux-aarch64.so.1 ;;
  s390x) debian_arch=s390x loader=lib/ld64.so.1 ;;
esac
triplet=$arch-linux-gnu
build=$root/build/$arch
sysroot=$build/sysroot
apt=$build/apt

set_up_apt () {
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" &&
    : >"$apt/status" &&
    cat >"$apt/apt.conf" <<EOF
APT::Architecture "$debian_arch";
APT::Architectures { "$debian_arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
EOF
}

# The development packages, and what they depend on, and a locale of UTF-8.
# Absolute links would lead out of the folder.
make_sysroot () {
  [ ! -f "$sysroot/complete" ] || return 0
  # shellcheck disable=SC2086 # a list of names
  packages=$(printf '%s\n' $BUILD_PACKAGES libcmocka-dev libc-bin |
    grep '^libc-bin$\|^lib.*-dev$')
  set_up_apt &&
    (export APT_CONFIG="$apt/apt.conf"
     # Sources that are not Debian's may lack the architecture.
     apt-get -qq update
     # shellcheck disable=SC2086 # a list of names
     apt-get -qqy --download-only install $packages) || return 1
  mkdir -p "$sysroot"
  for package in "$apt"/archives/*.deb; do
    dpkg -x "$package" "$sysroot" || return 1
  done
  find "$sysroot" -lname '/*' | while read -r link; do
    ln -sfn "$sysroot$(readlink "$link")" "$link"
  done
  : >"$sysroot/complete"
}

# Programs find their loader and libraries by themselves: with its -L qemu
# would look for every file in the sysroot first.
configure_arch () {
  folders=$sysroot/usr/lib/$triplet:$sysroot/lib/$triplet
  flags="-Wl,--dynamic-linker=$sysroot/$loader"
  flags="$flags -Wl,--disable-new-dtags,-rpath,$folders"
  PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$triplet/pkgconfig \
    PKG_CONFIG_SYSROOT_DIR=$sysroot \
    configure_in "$build" --host="$triplet" --disable-shared --enable-werror \
    CC="$triplet-gcc --sysroot=$sysroot -B$sysroot/usr/lib/$triplet/" \
    LDFLAGS="$flags"
}

# shellcheck disable=SC2086 # a list of names
install_packages "$logs/apt-$arch.log" $BUILD_PACKAGES \
  "gcc-$triplet" qemu-user-static
step "sysroot-$arch" make_sysroot || exit 1
step autogen ./autogen.sh || exit 1
step "configure-$arch" configure_arch || exit 1
step "build-$arch" make -C "$build" -j"$(ncpus)" || exit 1
# shellcheck disable=SC2016 # make expands them
make_check "$arch" "$build" TESTS='$(UNIT_TESTS) $(FUZZ_TESTS)' \
  check_PROGRAMS='$(UNIT_TESTS) $(FUZZ_TESTS)' \
  LOG_COMPILER="env LOCPATH=$sysroot/usr/lib/locale sh $root/tests/run \
    qemu-$arch-static"
