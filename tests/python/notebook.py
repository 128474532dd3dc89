"""Runs the cells of a notebook, with no more than Python, and says what they show."""
import ast
import contextlib
import io


def lines(text):
    """Text as a notebook keeps it."""
    return text.splitlines(keepends=True)


def shown(value):
    html = getattr(value, "_repr_html_", lambda: None)()
    return {"text/plain": lines(repr(value)), **({"text/html": lines(html)} if html else {})}


def run_cell(source, names):
    """What a cell prints, and the value of its last line where that is an expression."""
    code = ast.parse(source)
    last = ast.Expression(code.body.pop().value) if isinstance(code.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<cell>", "exec"), names)
        value = eval(compile(last, "<cell>", "eval"), names) if last else None
    outputs = []
    if printed.getvalue():
        text = lines(printed.getvalue())
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append({"data": shown(value), "metadata": {}, "output_type": "execute_result"})
    return outputs


def run(notebook):
    """The notebook with the outputs of today."""
    names = {"__name__": "__main__"}
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count = sum(each["cell_type"] == "code" for each in cells) + 1
            outputs = run_cell("".join(cell["source"]), names)
            for output in outputs:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = count
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def text(notebook):
    """Each cell with the text of its outputs. How pandas writes HTML is its own affair."""
    parts = []
    for cell in notebook["cells"]:
        parts.append("".join(cell["source"]))
        for output in cell.get("outputs", []):
            parts.append("".join(output.get("text") or output["data"]["text/plain"]))
    return "\n\n".join(parts)
