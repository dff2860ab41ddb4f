#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# packages.sh SUITE [ARCHIVE]: Debian packages of the source archive (`make dist` of $GT_BUILD without one), built as
# packaging/debian says in a pristine root of that release, and tried in another one: dependencies, an upgrade,
# packaging/smoke, and a purge that leaves nothing. The archive is built there without git.
#
# Speaks TAP. $GT_DEBS: a folder of packages to be tried, instead of building some. root.sh says where all is one
# skip, and what is kept below build/roots.
# Limits: packages of the machine's own processor; the older version is the same one with an older number and a file
# more, until there is an older release.
set -u
suite=${1:?suite}
archive=${2:-}
. "$(dirname "$0")/root.sh"
log_in "packages-$suite"
fresh
online /var/lib/apt/lists
if [ -z "$archive" ]; then
	rm -f "$GT_BUILD"/gputrace-*.tar.xz
	make -C "$GT_BUILD" dist >"$logs/dist.log" 2>&1
	claim $? "make dist" "$logs/dist.log" || end
	archive=$(echo "$GT_BUILD"/gputrace-*.tar.xz)
fi
name=$(basename "$archive" .tar.xz)
version=${name#gputrace-}

# ---- built
build()
{
	mkdir "$tree/srv/deb" && cp "$archive" "$tree/srv/deb/gputrace_$version.orig.tar.xz" &&
		tar -C "$tree/srv/deb" --no-same-owner -xf "$archive" &&
			cp -r "$tree/srv/deb/$name/packaging/debian" "$tree/srv/deb/$name/debian"
	claim $? "the archive has packaging/debian"
	inside root 1800 "dpkg -P git >/dev/null; apt-get -q -y install --no-install-recommends build-essential fakeroot lintian &&
		apt-get -q -y --no-install-recommends build-dep /srv/deb/$name" >"$logs/build-dep.log" 2>&1
	claim $? "what the package needs to be built can be installed" "$logs/build-dep.log" || end
	inside root 3600 "cd /srv/deb/$name && dpkg-buildpackage -us -uc -b -j$(nproc)" >"$logs/build.log" 2>&1
	claim $? "dpkg-buildpackage" "$logs/build.log" || end
	inside root 900 "cd /srv/deb && lintian --allow-root --fail-on error *.changes" >"$logs/lintian.log" 2>&1
	claim $? "lintian finds no error" "$logs/lintian.log"
	rm -rf "$roots/debs-$suite"
	mkdir "$roots/debs-$suite" && cp "$tree"/srv/deb/*.deb "$roots/debs-$suite/"
}
debs=${GT_DEBS:-$roots/debs-$suite}
[ -n "${GT_DEBS:-}" ] || build
[ "$(cd "$debs" && echo [!_]*_*.deb | tr ' ' '\n' | sed 's/_.*//' | grep -v dbgsym | sort | tr '\n' ' ')" = \
	"gputrace gputrace-doc libgputrace-dev libgputrace0 " ]
claim $? "four packages"

# ---- tried
fresh
online /var/lib/apt/lists
mkdir "$tree/srv/new" "$tree/srv/old" && cp "$debs"/*.deb "$tree/srv/new/" && rm -f "$tree"/srv/new/*dbgsym*
mkdir "$tree/srv/try" && tar -C "$tree/srv/try" --no-same-owner --strip-components=2 -xf "$archive" "$name/packaging/smoke"
inside root 300 "cd /srv && for deb in new/*.deb; do
	rm -rf one && dpkg-deb -R \$deb one && sed -i 's/$version-[0-9]*/0.0.9-1/g' one/DEBIAN/control || exit 1
	[ ! -d one/usr/bin ] || touch one/usr/bin/gputrace-of-old-\${deb#*/}
	dpkg-deb -b one old/\${deb#*/} || exit 1
done" >"$logs/old.log" 2>&1
claim $? "an older version is made" "$logs/old.log"
inside root 900 "apt-get -q -y install --no-install-recommends gcc libc6-dev cmake make pkg-config &&
	apt-get -q -y install --no-install-recommends /srv/old/*.deb && gputrace --version" >"$logs/install.log" 2>&1
claim $? "the packages can be installed" "$logs/install.log"
! inside root 60 "dpkg-query -W -f '\${Status} \${Package}\n' | grep 'ok installed.*\(openmpi\|mpich\|openblas\|castxml\)'" >"$logs/mpi.log" 2>&1
claim $? "they bring no MPI, no BLAS and no castxml" "$logs/mpi.log"
inside root 300 "apt-get -q -y install --no-install-recommends /srv/new/*.deb && ! ls /usr/bin/gputrace-of-old* &&
	dpkg-query -W -f '\${Version}\n' gputrace | grep -x -F '$version-1'" >"$logs/upgrade.log" 2>&1
claim $? "an upgrade over an older version leaves nothing of that" "$logs/upgrade.log"
inside root 600 "sh /srv/try/smoke" >"$logs/smoke.log" 2>&1 && grep -q '^smoke: 5 uses work' "$logs/smoke.log"
claim $? "gputrace run, gputrace-cc, pkg-config, CMake and wrappers work" "$logs/smoke.log"
# The same again, so that what installing something else has changed is there before and behind.
cat >"$tree/srv/list" <<'END'
find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o -path /srv -o -path /var/log -o -path /var/cache \
	-o -name '*-old' \) -prune -o -print | sort
END
inside root 300 "dpkg -P gputrace gputrace-doc libgputrace-dev libgputrace0 && sh /srv/list >/srv/before && dpkg -i /srv/new/*.deb &&
	sh /srv/try/smoke && dpkg -P gputrace gputrace-doc libgputrace-dev libgputrace0 && sh /srv/list >/srv/after &&
	diff /srv/before /srv/after && ! grep -i 'gputrace\|vt_user' /srv/after && ! dpkg-query -W '*gputrace*'" >"$logs/purge.log" 2>&1
claim $? "a purge leaves nothing" "$logs/purge.log"
end
