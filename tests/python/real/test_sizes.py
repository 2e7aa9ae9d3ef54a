"""Sizes of real models, what a forward leaves behind, and tables of tensors, on the CPU."""
import html

import in_torch
import pytest
from conftest import validate

pytestmark = pytest.mark.torch
SUMS = ("parameters", "trainable", "parameter_bytes", "buffer_bytes", "storage_bytes", "full_bytes")


@pytest.fixture(scope="module")
def sizes():
    return in_torch.answer("real/model_sizes.py")


def row(document, path):
    return next(r for r in document["rows"] if r["path"] == path)


def test_rows_add_up(sizes):
    for name, document in sizes["documents"].items():
        validate(document)
        for key in SUMS:
            assert sum(r[key] or 0 for r in document["rows"]) == document["total"][key], (name, key)
        assert document["at_least"] == (name == "lazy")
        assert row(document, "")["all_bytes"] == (None if name == "lazy" else document["total"]["storage_bytes"])


def test_parameters_are_those_of_torch(sizes):
    """Each once, as parameters() has them; weights that are packed or on one storage are counted here alone."""
    differ = {"quantised": 4160 + 520, "views": 1100, "sharded": 32 * 64 + 128}
    for name, numel in sizes["numel"].items():
        assert sizes["documents"][name]["total"]["parameters"] == differ.get(name, numel), name


def test_tied_weights_count_once_and_are_named(sizes):
    document = sizes["documents"]["tied"]
    assert row(document, "head")["shared_with"] == ["embed.weight"] and row(document, "head")["storage_bytes"] == 0
    assert row(document, "embed")["storage_bytes"] == 4 * 1000 * 64
    again = row(sizes["documents"]["views"], "again")
    assert (again["shared_with"], again["parameters"]) == (["inside.weight"], 0)
    assert row(sizes["documents"]["views"], "")["storage_bytes"] == 4000
    assert sizes["documents"]["bert"]["total"]["buffer_bytes"] > 0


def test_what_a_module_owns_beside_its_children(sizes):
    own = row(sizes["documents"]["own"], "")
    assert own["own"] and (own["parameters"], own["buffer_bytes"]) == (16, 1024)
    assert "(own)" in sizes["texts"]["own"] and "(own)" in sizes["texts"]["attention"]
    leaf = sizes["documents"]["leaf"]["rows"]
    assert len(leaf) == 1 and not leaf[0]["own"] and leaf[0]["parameters"] == 100_100
    assert "(model)" in sizes["texts"]["leaf"]


def test_sizes_of_what_is_not_dense(sizes):
    totals = {name: document["total"] for name, document in sizes["documents"].items()}
    assert totals["meta"]["storage_bytes"] == 2_000_200_000  # vector V1
    # 32 values of 4 bytes, and two indices of 8 for each.
    assert totals["sparse"]["storage_bytes"] == 32 * 4 + 2 * 32 * 8
    assert totals["sparse_rows"]["parameter_bytes"] == 32 * 4 + (33 + 32) * 8
    assert totals["quantised_buffer"]["buffer_bytes"] == 64 * 64
    assert totals["quantised"]["parameter_bytes"] == 64 * 64 + 64 * 4 + 64 * 8 + 8 * 4
    assert totals["mixed"]["storage_bytes"] == 2 * 2 * 4160 + 4 * 128 + 4096 + 2 * 64 * 4 + 8
    assert (totals["frozen"]["parameters"], totals["frozen"]["trainable"]) == (2 * 1056, 1056)


def test_lazy_parameters_have_no_size(sizes):
    lazy = row(sizes["documents"]["lazy"], "0")
    assert lazy["parameters"] is lazy["storage_bytes"] is None and "at least 72 parameters" in sizes["texts"]["lazy"]
    told = " ".join(sizes["texts"]["lazy"].split())
    assert "; parameters at least 288 B, buffers unknown; in storages at least 288 B" in told


def test_of_a_sharded_tensor_the_local_part_counts(sizes):
    total = sizes["documents"]["sharded"]["total"]
    assert total["storage_bytes"] == 4 * (32 * 64 + 128) and total["full_bytes"] == 4 * (128 * 64 + 128)
    assert "all shards 32.50 KiB" in sizes["texts"]["sharded"]


def test_depth_folds_what_is_further_inside(sizes):
    shallow, deep = sizes["shallow"], sizes["documents"]["tied"]
    assert shallow["total"] == deep["total"] and [r["path"] for r in shallow["rows"]] == ["", "embed", "layers", "head"]
    assert sum(r["modules"] for r in shallow["rows"]) == len(deep["rows"])
    assert row(shallow, "layers")["storage_bytes"] == row(deep, "layers")["all_bytes"]


def test_foreign_names_do_no_harm(sizes):
    for text in (sizes["texts"]["hostile"], sizes["html"]["hostile"]):
        assert "\x1b" not in text and "red" in text
    page = sizes["html"]["hostile"]
    assert page.startswith("<pre>") and "<b>" not in page and "&lt;b&gt;" in page
    assert all(set(html.unescape(page)) & {"<"} for page in sizes["html"].values())


def test_a_size_is_a_mapping(sizes):
    assert sizes["members"] == [True, True, True, True, ["schema", "tool", "type", "total", "at_least", "rows"], 6]


def test_a_model_is_as_before_its_summary():
    answer = in_torch.answer("real/summaries.py")
    assert answer["same"] == {name: True for name in ("forward", "backward", "failing False", "failing True")}
    found = answer["found"]
    for document in found.values():
        validate(document)
        assert row(document, "")["calls"] == 1
    for name in ("forward", "backward"):
        assert [r["output_bytes"] for r in found[name]["rows"]] == [96, 384, 384, 384, 96]
    assert row(found["tied"], "")["output_bytes"] == 4 * 2 * 8 * 1000
    assert row(found["tied"], "layers.layers")["calls"] == 0  # a list of modules is not called
    assert row(found["tied"], "layers.layers")["output_bytes"] is None
    assert max(len(r["path"].split(".")) for r in found["tied"]["rows"]) == 3
    assert len(found["whole"]["rows"]) > len(found["tied"]["rows"])
    assert row(found["whole"], "layers.layers.0.norm1")["output_bytes"] == 4 * 2 * 8 * 64
    assert row(found["bert"], "")["output_bytes"] == 4 * 2 * 8 * 500
    assert row(found["lazy"], "0")["parameters"] == 24 and not found["lazy"]["at_least"]
    assert row(found["repeated"], "0")["calls"] == 3 and row(found["repeated"], "0")["output_bytes"] == 3 * 192


def test_tables_of_tensors():
    answer = in_torch.answer("real/tensor_tables.py")
    for document in (answer["empty"], answer["before"], *answer["documents"].values()):
        validate(document)
        for device in document["devices"]:
            rows = [r for r in document["rows"] if r["device"] == device["device"]]
            assert device["bytes"] == sum(r["bytes"] or 0 for r in rows) and device["storages"] == len(rows)
            assert device["invisible_bytes"] is device["rounding_bytes"] is device["allocated_bytes"] is None
    assert answer["initialised"] is False
    documents = answer["documents"]
    given = {r["name"]: r for r in documents["given"]["rows"] if r["name"]}
    assert given["embed.weight"]["kind"] == "parameter" and given["embed.weight.grad"]["kind"] == "gradient"
    assert given["exp_avg of embed.weight"]["kind"] == "optimizer_state" and given["mask"]["kind"] == "buffer"
    assert "head.weight" not in given  # it is the embedding's
    kinds = lambda name: sorted((r["kind"], r["bytes"]) for r in documents[name]["rows"])
    assert kinds("found") == kinds("given")
    plain = next(r for r in documents["given"]["rows"] if r["bytes"] == 4 << 20)
    assert (plain["kind"], plain["count"]) == ("other", 3)
    assert [r["bytes"] for r in documents["given"]["rows"][:2]] == [4 << 40, 4 << 20]
    assert sorted(r["bytes"] for r in documents["meta"]["rows"]) == [100, 4 << 40]
    assert {r["device"] for r in documents["cpu"]["rows"]} == {"cpu"}
    assert {64 * 2 * 8, 64 * 4} <= {r["bytes"] for r in documents["cpu"]["rows"]}
    assert len(answer["refused"]) == 2 and "nonsense" in answer["refused"][0]
    lost = lambda name: [r for r in answer[name]["rows"] if r["bytes"] == 4 * 12345]
    assert len(lost("before")) == 1 and lost("after") == []
    assert "exp_avg of embed.weight" in answer["text"] and "&" not in answer["text"]
