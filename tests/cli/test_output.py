"""What commands print."""

from __future__ import annotations

from footfall.cli.shared.output import print_table


def test_names_and_numbers_of_a_long_table_stay_whole_and_its_heads_are_broken(capsys):
    name = "acceleration-complementarity"
    columns = ("robot", "law", *(f"quantity number {i}>" for i in range(6)), "note")
    print_table(columns, [["cassie", name, *("1.00461",) * 6, "a note of several words"]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 120
    row = next(line for line in lines if "cassie" in line)
    assert name in row and row.count("1.00461") == 6
    assert not any("quantity number" in line for line in lines)


def test_what_does_not_fit_into_one_line_ends_in_dots(capsys):
    print_table(("law", "what it is"), [["one", "word " * 40]], one_line=True)
    row = capsys.readouterr().out.splitlines()[3]
    assert row.startswith("  one   word") and row.rstrip().endswith("…")
