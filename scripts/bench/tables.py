"""What is printed."""

import sys


def table(title, heads, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()


def ratio(value):
    return "–" if value is None else f"{value:.2f}"


def count(value):
    return "–" if value is None else f"{value:,.0f}"
