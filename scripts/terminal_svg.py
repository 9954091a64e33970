"""Draws lines of terminal output with ANSI colours as an SVG picture."""
import html
import re

CHARACTER, LINE, MARGIN = 8.4, 19, 18
BACKGROUND, FOREGROUND = "#0d1117", "#c9d1d9"
COLORS = ["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9"]
BRIGHT = ["#6e7681", "#ffa198", "#56d364", "#e3b341", "#a5d6ff", "#d2a8ff", "#b3f0ff", "#ffffff"]
ESCAPE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\(B|\x0f")


def indexed(number):
    """A colour of the palette of 256."""
    if number < 16:
        return (COLORS + BRIGHT)[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    return "#" + "".join(f"{0 if part == 0 else 55 + 40 * part:02x}" for part in (number // 36, number // 6 % 6, number % 6))


class Style:
    """The colours of a character."""

    def __init__(self):
        self.color = self.background = None
        self.bold = self.inverse = self.underlined = False

    def apply(self, codes):
        codes = [int(code or 0) for code in re.split("[;:]", codes)]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (1, 22):
                self.bold = code == 1
            elif code in (4, 24):
                self.underlined = code == 4
            elif code in (7, 27):
                self.inverse = code == 7
            elif 30 <= code < 38:
                self.color = COLORS[code - 30]
            elif 90 <= code < 98:
                self.color = BRIGHT[code - 90]
            elif 40 <= code < 48:
                self.background = COLORS[code - 40]
            elif 100 <= code < 108:
                self.background = BRIGHT[code - 100]
            elif code == 39:
                self.color = None
            elif code == 49:
                self.background = None
            elif code in (38, 48) and codes:
                kind = codes.pop(0)
                if kind == 5 and codes:
                    chosen = indexed(codes.pop(0))
                elif kind == 2 and len(codes) >= 3:
                    chosen = "#" + "".join(f"{codes.pop(0):02x}" for _ in range(3))
                else:
                    continue
                if code == 38:
                    self.color = chosen
                else:
                    self.background = chosen


def spans(line, style):
    """The runs of one line: text with its colour, background, weight and underline."""
    at = 0
    for match in [*ESCAPE.finditer(line), None]:
        end = match.start() if match else len(line)
        if end > at:
            color, background = style.color, style.background
            if style.inverse:
                color, background = background or BACKGROUND, color or FOREGROUND
            yield line[at:end], color, background, style.bold, style.underlined
        if match is None:
            return
        if match.group(1) is not None:
            style.apply(match.group(1))
        at = match.end()


def svg(lines, label):
    """The picture; `label` describes it for those who cannot see it."""
    width = max(len(ESCAPE.sub("", line)) for line in lines) * CHARACTER + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img" aria-label="{html.escape(label)}">',
           f'<rect width="{width:.0f}" height="{height}" rx="8" fill="{BACKGROUND}"/>',
           f'<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="{FOREGROUND}" style="white-space:pre">']
    style = Style()
    for number, line in enumerate(lines):
        x, y = MARGIN, MARGIN + (number + 1) * LINE - 5
        for text, color, background, bold, underlined in spans(line, style):
            length = len(text) * CHARACTER
            if background:
                out.append(f'<rect x="{x:.1f}" y="{y - 14}" width="{length:.1f}" height="{LINE}" fill="{background}"/>')
            if text.strip():
                look = (f' fill="{color}"' if color else "") + (' font-weight="bold"' if bold else "") + (' text-decoration="underline"' if underlined else "")
                # Browsers read xml:space only on the element itself.
                out.append(f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" xml:space="preserve"{look}>{html.escape(text)}</text>')
            x += length
    return "\n".join([*out, "</g>", "</svg>", ""])
