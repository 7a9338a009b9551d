"""Values that have names."""

from warpfile.schemes import SCHEMES
from warpfile.spec.encoding import FIELDS, named_values, value_list
from warpfile.spec.schemes.bow import WriteClass
from warpfile.spec.stimulus import Origin

CLASSES = {int(one): one.name.lower() for one in WriteClass}


def test_a_list_of_values_has_a_name_for_each() -> None:
    assert named_values(FIELDS["origin"][1]) == {int(one): one.name.lower() for one in Origin}
    assert named_values(FIELDS["kind"][1]) == {0: "normal", 1: "pseudo-instruction", 2: "barrier", 3: "exit"}


def test_names_of_one_value_are_joined() -> None:
    assert named_values(((1, "one"), (0, "none"), (1, "single"))) == {0: "none", 1: "one/single"}
    assert value_list(((1, "one"), (0, "none"), (1, "single"))) == "0 none, 1 one/single"


def test_hints_and_probes_name_values() -> None:
    scheme = SCHEMES["bow_wr"]
    cfg = scheme.configuration("tiny")
    (hint,) = cfg.hints()
    assert named_values(hint.values) == CLASSES
    probes = [one for one in scheme.probes(cfg) if one.name.startswith("class")]
    assert probes and all(named_values(one.values) == CLASSES for one in probes)
