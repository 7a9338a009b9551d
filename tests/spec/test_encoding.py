"""Values that have names are told from all other encodings."""

import pytest

from warpfile.schemes import SCHEMES
from warpfile.spec.encoding import FIELDS, named_values
from warpfile.spec.schemes.bow import WriteClass
from warpfile.spec.stimulus import Origin


def test_a_list_of_values_is_read_as_it_was_written() -> None:
    assert named_values(FIELDS["origin"][1]) == {int(one): one.name.lower() for one in Origin}
    assert named_values(FIELDS["kind"][1]) == {0: "normal", 1: "pseudo-instruction", 2: "barrier", 3: "exit"}


@pytest.mark.parametrize("encoding", ["", "0 to 4", "1: yes", "bit l: lane l", "unsigned number", "0 a,1 b", "a 0"])
def test_any_other_encoding_names_no_values(encoding: str) -> None:
    assert named_values(encoding) == {}


def test_hints_and_probes_name_values() -> None:
    scheme = SCHEMES["bow_wr"]
    cfg = scheme.configuration("tiny")
    classes = {int(one): one.name.lower() for one in WriteClass}
    (hint,) = cfg.hints()
    assert named_values(hint.encoding) == classes
    probes = [one for one in scheme.probes(cfg) if one.name.startswith("class")]
    assert probes and all(named_values(one.encoding) == classes for one in probes)
