"""How the Python that runs the service was built."""

import sysconfig

_SLOW = (
    "This Python was built without profile-guided optimization. One that was, such as Debian's, "
    "needs 0.65 to 0.93 of the time for the same requests."
)


def describe_slow_build() -> str | None:
    """None if it is optimized. A distribution may build the optimized target itself, as Debian
    does: then the flag is missing, but the build no longer names a profile to be used, which
    every other one does.
    """
    flags = sysconfig.get_config_var("CONFIG_ARGS") or ""
    is_optimized = "--enable-optimizations" in flags
    is_plain = "-fprofile" in (sysconfig.get_config_var("PGO_PROF_USE_FLAG") or "")
    return _SLOW if is_plain and not is_optimized else None
