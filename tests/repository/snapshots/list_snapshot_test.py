#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: tests/repository/snapshots/list_snapshot_test.py PROJECT

Runs tools/snapshots/list_snapshot of the folder PROJECT on snapshots of the fuzzers' corpus, and on damaged ones.

examples:
  tests/repository/snapshots/list_snapshot_test.py .
"""

import importlib.util
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else ".").resolve()
TOOL = PROJECT / "tools/snapshots/list_snapshot"
CORPUS = PROJECT / "tests/fuzz/corpus/snapshot"
HAS_HASHES = importlib.util.find_spec("xxhash") is not None


class ListSnapshot(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "a.save"
        self.whole = (CORPUS / "two_blocks").read_bytes()

    def run_tool(self, *arguments):
        done = subprocess.run([sys.executable, "-B", TOOL, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def refusal_of(self, data):
        """What is said of the bytes, without the name of the tool and of the file."""
        self.file.write_bytes(data)
        code, output, errors = self.run_tool(self.file)
        self.assertEqual((code, output), (1, ""))
        beginning = f"tools/snapshots/list_snapshot: snapshot '{self.file}', "
        self.assertTrue(errors.startswith(beginning), errors)
        return errors[len(beginning):].rstrip("\n")

    def all_are_refused(self, versions):
        """In one call."""
        files = []
        for i, data in enumerate(versions):
            files.append(pathlib.Path(self.folder.name) / f"{i}.save")
            files[-1].write_bytes(data)
        code, output, errors = self.run_tool(*files)
        self.assertEqual((code, output), (1, ""))
        self.assertEqual([line.split("'")[1] for line in errors.splitlines()], [str(file) for file in files])

    def with_bytes(self, offset, data):
        return self.whole[:offset] + data + self.whole[offset + len(data):]

    def test_text(self):
        checked = "hashes checked" if HAS_HASHES else "hashes not checked, for lack of the Python module xxhash"
        self.file.write_bytes(self.whole)
        self.assertEqual(self.run_tool(self.file, CORPUS / "empty"), (0, f"""{self.file}: format 1, 176 bytes, 2 blocks, {checked}
  byte  kind   version  bytes  name
    56  pool         3      5  ships
   112  value        2      0  a day
{CORPUS / "empty"}: format 1, 72 bytes, 0 blocks, {checked}
""", ""))

    def test_json(self):
        self.file.write_bytes(self.whole)
        code, output, errors = self.run_tool("--json", self.file)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(json.loads(output), [{
            "file": str(self.file), "format": 1, "bytes": 176, "hashes_checked": HAS_HASHES, "blocks": [
                {"name": "ships", "kind": "pool", "version": 3, "offset": 56, "bytes": 5, "hash": "59b68387649283c1"},
                {"name": "a day", "kind": "value", "version": 2, "offset": 112, "bytes": 0, "hash": "2d06800538d394c2"},
            ]}])

    def test_objects_of_pools(self):
        file = CORPUS / "pools"
        checked = "hashes checked" if HAS_HASHES else "hashes not checked, for lack of the Python module xxhash"
        self.assertEqual(self.run_tool("--objects", file), (0, f"""{file}: format 1, 856 bytes, 4 blocks, {checked}
  byte  kind   version  bytes  name
    56  pool         1    163  numbers
   272  pool         1    160  texts
   480  pool         1    212  movers
   744  value        1     47  score
  numbers: dense, pool id 3, 2 objects, 8 bytes, layout 'u64'; 4 slots, 1 reserved, 0 retired
    0xc0000100000001  byte 203, 8 bytes
    0xc0000100000002  byte 211, 8 bytes
  texts: stable, pool id 4, 2 objects, archived; 2 slots, 0 reserved, 0 retired
    0x100000100000000  byte 424, 3 bytes, place 0
    0x100000100000001  byte 427, 5 bytes, place 1
  movers: dense, pool id 5, 2 rows; 2 slots, 0 reserved, 0 retired
    column x: 4 bytes, layout 'f32'
    column title: archived
    0x140000100000000  x byte 612, 4 bytes; title byte 681, 7 bytes
    0x140000100000001  x byte 616, 4 bytes; title byte 688, 4 bytes
  score: 4 bytes, layout 'i32'
""", ""))
        data = file.read_bytes()
        self.assertEqual((data[211:219], data[424:432]), (struct.pack("<Q", 33), b"onethree"))
        self.assertEqual((data[616:620], data[681:692]), (struct.pack("<f", 2.5), b"captaincook"))

    def test_pools_and_values_as_json(self):
        code, output, errors = self.run_tool("--json", "--objects", CORPUS / "pools")
        self.assertEqual((code, errors), (0, ""))
        blocks = json.loads(output)[0]["blocks"]
        of_pool = {"reserved": 0, "waiting": 0, "claimed": 0, "returned": 0, "retired": 0}
        archived = {"encoding": "archive", "type_version": 0}
        self.assertEqual([each.get("pool", each.get("value")) for each in blocks], [
            of_pool | {"id": 3, "placement": "dense", "objects": 2, "slots": 4, "reserved": 1, "waiting": 1, "encoding": "bytes",
                       "type_version": 0, "element_bytes": 8, "element_alignment": 8, "layout": "u64"},
            of_pool | archived | {"id": 4, "placement": "stable", "objects": 2, "slots": 2},
            of_pool | {"id": 5, "placement": "dense", "objects": 2, "slots": 2, "columns": [
                {"name": "x", "encoding": "bytes", "type_version": 0, "element_bytes": 4, "element_alignment": 4, "layout": "f32"},
                archived | {"name": "title"}]},
            {"encoding": "bytes", "type_version": 0, "element_bytes": 4, "element_alignment": 4, "layout": "i32"}])
        self.assertEqual([each.get("objects", [])[-1:] for each in blocks], [
            [{"handle": "0xc0000100000002", "offset": 211, "bytes": 8}],
            [{"handle": "0x100000100000001", "offset": 427, "bytes": 5, "place": 1}],
            [{"handle": "0x140000100000001", "columns": [{"name": "x", "offset": 616, "bytes": 4},
                                                         {"name": "title", "offset": 688, "bytes": 4}]}],
            []])

    @unittest.skipIf(HAS_HASHES, "the hashes are wrong, too")
    def test_columns_that_are_none(self):
        self.whole = (CORPUS / "pools").read_bytes()
        title = 620 # the column behind that of x
        self.assertEqual(self.refusal_of(self.with_bytes(title, b"\7")),
                         "byte 620, block 'movers': encoding 7 is unknown; known are 0 to 1")
        self.assertEqual(self.refusal_of(self.with_bytes(title + 24, b"\x1a")),
                         "byte 665, block 'movers': 2 elements are expected, which 26 bytes are not")
        self.assertEqual(self.refusal_of(self.with_bytes(title + 24, b"\xff")),
                         "byte 665, block 'movers': elements take 255 bytes, and 27 are left")
        self.assertEqual(self.refusal_of(self.with_bytes(title + 32, b"\xff")),
                         "byte 660, block 'movers': the bytes of a name take 255 bytes, and 32 are left")
        self.assertEqual(self.refusal_of(self.with_bytes(744 + 8, b"\5")),
                         "byte 787, block 'score': 1 elements are expected, which 4 bytes are not")

    def test_members_of_containers(self):
        file = CORPUS / "containers"
        code, output, errors = self.run_tool("--objects", file)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output[output.index("  set: "):], """  set: handle_set, pool id 5, 3 members
    0x140000100000003
    0x140000100000001
    0x140000100000006
  map: handle_map, pool id 5, 3 members, values of 4 bytes, layout 'u32'
    0x140000100000003  byte 507, 4 bytes
    0x140000100000001  byte 511, 4 bytes
    0x140000100000006  byte 515, 4 bytes
  index: handle_index, pool id 5, 3 members, keys archived, 0 refused
    0x140000100000003  byte 680, 1 bytes
    0x140000100000001  byte 681, 1 bytes
    0x140000100000006  byte 682, 1 bytes
  many: handle_index, pool id 5, 4 members, keys of 4 bytes, layout 'u32', 0 refused
    0x140000100000003  byte 835, 4 bytes
    0x140000100000001  byte 839, 4 bytes
    0x140000100000006  byte 843, 4 bytes
    0x140000100000002  byte 847, 4 bytes
  tree: hierarchy, pool id 5, 5 members
    0x140000100000003  place 0 among the roots
    0x140000100000001  place 0 below 0x140000100000003
    0x140000100000006  place 1 below 0x140000100000003
    0x140000100000002  place 0 below 0x140000100000006
    0x140000100000000  place 1 among the roots
  bags: property_store, 3 members
    0x140000100000001  byte 1112, 20 bytes
    0x140000100000003  byte 1140, 20 bytes
    0x140000100000006  byte 1168, 20 bytes
""")
        data = file.read_bytes()
        self.assertEqual((data[507:519], data[680:683]), (struct.pack("<3I", 30, 10, 60), b"316"))
        code, output, errors = self.run_tool("--json", file)
        self.assertEqual((code, errors), (0, ""))
        number = {"encoding": "bytes", "type_version": 0, "element_bytes": 4, "element_alignment": 4, "layout": "u32"}
        self.assertEqual([each.get("container") for each in json.loads(output)[0]["blocks"]], [
            None,
            {"form": "handle_set", "members": 3, "pool_id": 5},
            {"form": "handle_map", "members": 3, "pool_id": 5} | number,
            {"form": "handle_index", "members": 3, "pool_id": 5, "duplicates": "refuse", "encoding": "archive", "type_version": 0,
             "refused": []},
            {"form": "handle_index", "members": 4, "pool_id": 5, "duplicates": "allow", "refused": []} | number,
            {"form": "hierarchy", "members": 5, "pool_id": 5, "orphans": "become_roots"},
            {"form": "property_store", "members": 3}])

    def test_help(self):
        code, output, errors = self.run_tool("--help")
        self.assertEqual((code, errors), (0, ""))
        self.assertTrue(output.startswith("usage: tools/snapshots/list_snapshot [--objects] [--json] FILE...\n"))
        self.assertIn("\nexamples:\n  tools/snapshots/list_snapshot ", output)

    def test_wrong_calls(self):
        for arguments, problem in (((), "FILE is missing"), (("--jsn", "a"), "unknown option '--jsn'")):
            code, output, errors = self.run_tool(*arguments)
            self.assertEqual((code, output), (2, ""))
            self.assertTrue(errors.startswith(f"tools/snapshots/list_snapshot: {problem}\nusage: "), errors)

    def test_a_file_that_can_not_be_read_does_not_hide_the_others(self):
        code, output, errors = self.run_tool("--json", self.file, CORPUS / "empty")
        self.assertEqual((code, errors), (1, f"tools/snapshots/list_snapshot: {self.file}: No such file or directory\n"))
        self.assertEqual([each["file"] for each in json.loads(output)], [str(CORPUS / "empty")])

    def test_names_of_files_are_any_bytes(self):
        strange = os.fsencode(self.folder.name) + b"/a\n\x1b[2J\"'\xff\xc2\x85.save"
        shown = f"{self.folder.name}/a\ufffd\ufffd[2J\"'\ufffd\ufffd.save"
        missing = self.run_tool(strange)
        self.assertEqual(missing, (1, "", f"tools/snapshots/list_snapshot: {shown}: No such file or directory\n"))
        pathlib.Path(os.fsdecode(strange)).write_bytes(self.whole)
        code, output, errors = self.run_tool(strange)
        self.assertEqual((code, errors), (0, ""))
        self.assertTrue(output.startswith(f"{shown}: format 1, 176 bytes, 2 blocks, "), output)
        code, output, errors = self.run_tool("--json", strange)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(json.loads(output)[0]["file"], f"{self.folder.name}/a\n\x1b[2J\"'\ufffd\x85.save")
        pathlib.Path(os.fsdecode(strange)).write_bytes(b"")
        self.assertEqual(self.run_tool(strange), (1, "", f"tools/snapshots/list_snapshot: snapshot '{shown}', byte 0: this is no snapshot; "
                                                  '"hp world" is expected\n'))
        code, output, errors = self.run_tool(b"--\n\x1b\xff")
        self.assertEqual((code, output), (2, ""))
        self.assertTrue(errors.startswith("tools/snapshots/list_snapshot: unknown option '--\ufffd\ufffd\ufffd'\n"), errors)

    def test_each_cut_is_refused(self):
        self.all_are_refused(self.whole[:size] for size in range(len(self.whole)))

    def test_messages(self):
        self.assertEqual(self.refusal_of(b""), 'byte 0: this is no snapshot; "hp world" is expected')
        self.assertEqual(self.refusal_of(self.with_bytes(8, b"\2")), "byte 8: format 2 is unknown; known is 1")
        self.assertEqual(self.refusal_of(self.with_bytes(32, bytes(4))),
                         "byte 32: a name of 1 to 255 bytes is expected, and 0 bytes are announced")
        self.assertEqual(self.refusal_of(self.with_bytes(54, b"\3")), "byte 54, block 'ships': 0 is expected, and 3 is there")
        self.assertEqual(self.refusal_of(self.with_bytes(61, b"\x80")), "byte 61, block 'ships': 0 is expected, and 128 is there")
        self.assertEqual(self.refusal_of(self.whole + b"\0"),
                         "byte 176: nothing is expected behind the last block, and 1 byte is there")

    @unittest.skipIf(HAS_HASHES, "the header's hash is wrong, too")
    def test_sizes_that_lie(self):
        self.assertEqual(self.refusal_of(self.with_bytes(16, struct.pack("<Q", 2**64 - 1))),
                         "byte 16, block 'ships': the payload is cut off: 18446744073709551615 bytes are expected, 9 behind it, and "
                         "120 bytes are there")

    @unittest.skipUnless(HAS_HASHES, "needs the module xxhash")
    def test_damage_that_only_hashes_show(self):
        self.assertEqual(self.refusal_of(self.with_bytes(28, b"\4")),
                         "byte 16: the header of a block is damaged: its hash is 3cafa626d9194c2c, and 0e6316e03522a1df is expected")
        self.assertEqual(self.refusal_of(self.with_bytes(58, b"\0")),
                         "byte 64, block 'ships': the payload is damaged: its hash is 15c6a74ab31a1663, and 59b68387649283c1 is "
                         "expected")
        self.all_are_refused(self.with_bytes(offset, bytes([self.whole[offset] ^ 1 << bit]))
                             for offset in range(len(self.whole)) for bit in range(8))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.stdout.write(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    unittest.main(argv=sys.argv[:1])
