"""Pages of the browser tasks, as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape

__all__ = [
    "add_button",
    "box",
    "entry",
    "field",
    "form",
    "link",
    "links",
    "listed",
    "page",
    "paragraph",
    "radio",
    "select",
    "sortable",
    "stored",
    "table",
]

STYLE = """
body { font: 16px sans-serif; margin: 14px 24px; color: #222 }
h1 { font-size: 24px; margin: 6px 0 12px }
h2 { font-size: 18px; margin: 12px 0 6px }
p, .row { display: block; margin: 6px 0 }
label.field { display: block; margin: 8px 0 }
label.field span { display: inline-block; width: 130px }
input[type=text], input[type=password], textarea { font: inherit; width: 260px }
select, button { font: inherit; padding: 2px 10px }
a { margin-right: 18px }
table { border-collapse: collapse }
th, td { border: 1px solid #999; padding: 2px 12px; text-align: left }
"""
#: A drop-down list does not tell its choice to accessibility while it is closed, so its name does.
SCRIPT = """
for (const list of document.querySelectorAll("select")) {
  const tell = () => list.setAttribute("aria-label", list.dataset.label + ": " + list.value);
  list.addEventListener("change", tell);
  tell();
}
"""
SORTING = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("th")];
  const tell = () => heads.forEach((head) => {
    const order = head.dataset.order || "";
    const sign = { ascending: " \\u25b2", descending: " \\u25bc" }[order] || "";
    head.firstChild.textContent = head.dataset.name + sign;
    const words = [table.dataset.name, head.dataset.name, order].filter((word) => word);
    head.setAttribute("aria-label", words.join(", "));
  });
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
    const order = head.dataset.order === "ascending" ? "descending" : "ascending";
    heads.forEach((other) => delete other.dataset.order);
    head.dataset.order = order;
    const of = (row) => row.cells[column].textContent;
    const compare = (a, b) => of(a).localeCompare(of(b), "en", { numeric: true });
    const rows = [...table.tBodies[0].rows].sort(compare);
    table.tBodies[0].append(...(order === "ascending" ? rows : rows.reverse()));
    tell();
  }));
  tell();
}
"""


def page(title: str, *parts: str) -> str:
    """A whole page; its title stands on top of it, too."""
    script = SCRIPT + (SORTING if any("sortable" in part for part in parts) else "")
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(title)}</title>"
        f"<link rel=icon href=data:,><style>{STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{''.join(parts)}<script>{script}</script></body></html>"
    )


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def link(text: str, path: str) -> str:
    return f'<a href="{escape(path)}">{escape(text)}</a>'


def links(targets: Mapping[str, str]) -> str:
    """Links, each on a line of its own: text -> path."""
    return "".join(f"<p>{link(text, path)}</p>" for text, path in targets.items())


# Forms.


def form(action: str, *parts: str, button: str, onward: str | None = None) -> str:
    """A form that is submitted to that path and leads on to a page; without one, back to where it is."""
    hidden = f'<input type=hidden name=next value="{escape(onward)}">' if onward else ""
    return (
        f'<form method=post action="{escape(action)}" autocomplete=off>{hidden}{"".join(parts)}'
        f"<p><button>{escape(button)}</button></p></form>"
    )


def field(label: str, name: str, value: str = "", kind: str = "text") -> str:
    return (
        f"<label class=field><span>{escape(label)}</span> "
        f'<input type={kind} name={name} value="{escape(value)}" autocomplete=off></label>'
    )


def box(label: str, name: str, checked: bool = False) -> str:
    """A check box whose value is its label."""
    state = " checked" if checked else ""
    text = escape(label)
    return f'<label class=row><input type=checkbox name={name} value="{text}"{state}> {text}</label>'


def radio(label: str, name: str, options: Sequence[str], chosen: str | None = None) -> str:
    buttons = [
        f'<label><input type=radio name={name} value="{option}"{" checked" if option == chosen else ""}> '
        f"{option}</label> "
        for option in map(escape, options)
    ]
    return f"<p>{escape(label)}: {''.join(buttons)}</p>"


def select(label: str, name: str, options: Sequence[str], chosen: str) -> str:
    shown = [
        f"<option{' selected' if option == chosen else ''}>{escape(option)}</option>" for option in options
    ]
    return (
        f"<label class=field><span>{escape(label)}</span> "
        f'<select name={name} data-label="{escape(label)}">{"".join(shown)}</select></label>'
    )


def add_button(action: str, name: str, value: str, label: str, text: str) -> str:
    """A form of nothing but a button; accessibility knows it by the label."""
    attributes = f'name={name} value="{escape(value)}" aria-label="{escape(label)}"'
    return (
        f'<form method=post action="{escape(action)}" style="display:inline">'
        f"<button {attributes}>{escape(text)}</button></form>"
    )


# Tables.


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; cells are HTML already."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def sortable(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that is sorted by a click on a head, and by another one the other way round."""
    top = "".join(f'<th data-name="{escape(head)}"><button>{escape(head)}</button></th>' for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<table class=sortable data-name="{escape(name)}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


# What the site keeps.


def stored(fields: Mapping[str, str]) -> str:
    """A submission as the site writes it down."""
    return json.dumps(dict(fields), sort_keys=True)


def entry(**fields: str) -> dict[str, str]:
    return fields


def listed(rows: Sequence[Mapping[str, str]]) -> str:
    """A list as the site writes it down."""
    return "".join(f"{line}\n" for line in sorted(json.dumps(dict(row), sort_keys=True) for row in rows))
