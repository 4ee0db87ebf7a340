"""Texts, lists, CSV, JSON and SQLite."""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import as_list
from operant.tasks.osworld.metrics.rules import matches_record, matches_rule

__all__ = ["METRICS", "read_json", "read_lines", "read_text"]

SQL_S = 10.0
ROUNDING = 1e-4
Options = Mapping[str, Any]


def read_text(path: Path) -> str:
    """What a file says, in whatever encoding."""
    data = Path(path).read_bytes()
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def read_lines(path: Path) -> list[str]:
    return read_text(path).splitlines()


def read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise Refuted(f"{Path(path).name} is not JSON: {str(error)[:80]}") from error


def _include_exclude(result: str, rules: Options, options: Options) -> float:
    absent = [text for text in rules.get("include") or [] if text not in result]
    if absent:
        raise Refuted(f"{absent[0]!r:.80} is not in {result!r:.120}")
    present = [text for text in rules.get("exclude") or [] if text in result]
    if present:
        raise Refuted(f"{present[0]!r:.80} is in {result!r:.120}")
    return 1.0


def _exact_match(result: Any, rules: Options, options: Options) -> float:
    return _same(result, rules["expected"])


def _match_in_list(result: Any, rules: Options, options: Options) -> float:
    if result not in rules["expected"]:
        raise Refuted(f"{result!r:.100} is none of {rules['expected']!r:.100}")
    return 1.0


def _is_in_list(result: Any, rules: Options, options: Options) -> float:
    return float(rules["expected"] in result)


def _literal_match(result: Any, expected: Any, options: Options) -> float:
    def worded(value: Any) -> str:
        return str(value).lower() if options.get("ignore_case") else str(value)

    if options.get("type", "str") == "str":
        return _same(worded(result), worded(expected))
    if not all(isinstance(one, (list, tuple)) for one in (result, expected)):
        return 0.0
    return _same([worded(one) for one in result], [worded(one) for one in expected])


def _same(found: Any, wanted: Any) -> float:
    if found != wanted:
        raise Refuted(f"{found!r:.120} instead of {wanted!r:.120}")
    return 1.0


def _fuzzy_match(result: str, rules: Options, options: Options) -> float:
    from rapidfuzz import fuzz

    return fuzz.ratio(result, rules["expected"]) / 100


def _compare_text(result: Path, expected: Path, options: Options) -> float:
    texts = [read_text(result), read_text(expected)]
    if options.get("ignore_blanks"):
        texts = [" ".join(text.split()) for text in texts]
    if options.get("ignore_case"):
        texts = [text.lower() for text in texts]
    return _same(*texts)


def _diff_text(result: Path, expected: Path, options: Options) -> float:
    return difflib.SequenceMatcher(a=read_lines(result), b=read_lines(expected)).ratio()


def _compare_csv(result: Path, expected: Any, options: Options) -> float:
    """Equal to one of the gold files, line by line."""

    def lines(path: Path) -> list[str]:
        found = read_lines(path)
        if not options.get("strict", True):
            found = [line.strip() for line in found]
        return [line.lower() for line in found] if options.get("ignore_case") else found

    given = lines(result)
    if not any(given == lines(one) for one in as_list(expected)):
        raise Refuted("its lines are those of no gold file")
    return 1.0


def _check_csv(result: Path, rules: Options, options: Options) -> float:
    records = list(csv.DictReader(io.StringIO(read_text(result))))
    return _found(records, rules, lambda record, wanted: matches_record(record, wanted))


def _check_list(result: Path, rules: Options, options: Options) -> float:
    return _found(read_lines(result), rules, lambda line, pattern: re.search(pattern, line) is not None)


def _found(items: list[Any], rules: Options, meant: Callable[[Any, Any], bool]) -> float:
    """Everything that is expected is among them, and nothing that is not."""
    for wanted in rules.get("expect") or []:
        if not any(meant(item, wanted) for item in items):
            raise Refuted(f"nothing is like {wanted!r:.100}")
    for unwanted in rules.get("unexpect") or []:
        if any(meant(item, unwanted) for item in items):
            raise Refuted(f"something is like {unwanted!r:.100}")
    return 1.0


def _check_json(result: Path, rules: Options, options: Options) -> float:
    data = yaml.safe_load(read_text(result)) if options.get("is_yaml") else read_json(result)
    for rule in rules.get("expect") or []:
        if not matches_rule(_at(data, rule["key"]), rule):
            raise Refuted(f"{'/'.join(map(str, rule['key']))} is not as expected")
    for rule in rules.get("unexpect") or []:
        value = _at(data, rule["key"])
        if value is not None and matches_rule(value, rule):
            raise Refuted(f"{'/'.join(map(str, rule['key']))} is as it must not be")
    return 1.0


def _at(data: Any, keys: list[Any]) -> Any:
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _direct_json(result: Any, rules: Options, options: Options) -> float:
    """The values of an object, or of a text that writes one down."""
    if isinstance(result, str):
        try:
            result = json.loads(result.strip().replace("'", '"'))
        except ValueError as error:
            raise Refuted(f"{result!r:.100} is not JSON") from error
    if not isinstance(result, Mapping):
        raise Refuted(f"{result!r:.100} is no object")
    for key, wanted in rules["expected"].items():
        found = result.get(key)
        if not (_among(found, wanted) if rules.get("expect_in_result") else found == wanted):
            raise Refuted(f"{key} is {found!r:.80}")
    return 1.0


def _among(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(one == found or (isinstance(found, list) and one in found) for one in wanted)
    return isinstance(found, str) and isinstance(wanted, str) and wanted in found


def _sqlite(result: Path, rules: Options, options: Options) -> float:
    """The first value that a query gives. The file is opened to read only, and a query that goes on for long is ended."""
    statement = str(rules["sql"])
    if not statement.lstrip().lower().startswith(("select", "with")):
        raise TaskError(f"{statement[:60]!r} is no query")
    deadline = time.monotonic() + SQL_S
    connection = sqlite3.connect(f"file:{Path(result).absolute()}?mode=ro&immutable=1", uri=True)
    try:
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        row = connection.execute(statement).fetchone()
    finally:
        connection.close()
    return float(row[0] or 0) if row else 0.0


def _result_files(result: Path, expected: Path, options: Options) -> float:
    """The same text apart from blanks around it; a number may stand in a sentence, or be rounded."""
    found, wanted = read_text(result).strip(), read_text(expected).strip()
    number = _number(wanted)
    if number is None:
        return _same(found, wanted)
    given = _number(found)
    return float(wanted in found or (given is not None and abs(given - number) < ROUNDING))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "check_include_exclude": _include_exclude,
    "exact_match": _exact_match,
    "match_in_list": _match_in_list,
    "is_in_list": _is_in_list,
    "literal_match": _literal_match,
    "fuzzy_match": _fuzzy_match,
    "compare_text_file": _compare_text,
    "diff_text_file": _diff_text,
    "compare_result_files": _result_files,
    "compare_csv": _compare_csv,
    "check_csv": _check_csv,
    "check_list": _check_list,
    "check_json": _check_json,
    "check_direct_json_object": _direct_json,
    "run_sqlite3": _sqlite,
}
