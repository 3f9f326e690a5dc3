"""Strategies for versions and ranges, for properties of semantic versions."""

from hypothesis import strategies as st

from widget_contract.semver import MAX_NUMBER, SemVer

# Numbers are small so that two generated versions are often adjacent.
NUMBERS = st.integers(0, 3) | st.sampled_from([9, 10, 11, MAX_NUMBER - 1])
IDENTIFIERS = (
    st.integers(0, 11)
    | st.sampled_from(["alpha", "beta", "rc", "a", "A", "-", "0a", "x"])
    | st.from_regex(r"[0-9]{0,2}[a-zA-Z-][0-9a-zA-Z-]{0,3}", fullmatch=True)
)
PRERELEASES = st.just("") | st.lists(IDENTIFIERS, min_size=1, max_size=3).map(
    lambda identifiers: "-" + ".".join(map(str, identifiers))
)
BUILDS = st.just("") | st.from_regex(r"\+[0-9a-zA-Z-]{1,3}(\.[0-9a-zA-Z-]{1,3})?", fullmatch=True)
TEXTS = st.builds("{}.{}.{}{}{}".format, NUMBERS, NUMBERS, NUMBERS, PRERELEASES, BUILDS)
VERSIONS = TEXTS.map(SemVer.parse)
PARTIALS = st.one_of(
    st.builds("{}".format, NUMBERS),
    st.builds("{}.{}".format, NUMBERS, NUMBERS),
    st.builds("{}.{}.{}".format, NUMBERS, NUMBERS, st.sampled_from("xX*")),
    VERSIONS.map(str),
)
COMPARATORS = st.builds(
    "{}{}".format, st.sampled_from(["", "=", ">", ">=", "<", "<=", "^", "~", "~>"]), PARTIALS
)
RANGES = (
    COMPARATORS
    | st.builds("{} {}".format, COMPARATORS, COMPARATORS)
    | st.builds("{} - {}".format, PARTIALS, PARTIALS)
)
