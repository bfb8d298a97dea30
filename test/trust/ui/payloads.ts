// Text that tries to be more than text: scripts, pictures, links, styles, terminal escapes, bidirectional controls, and text that
// breaks parsers. Each starts with its own mark, by which it is found on the page.

export type Payload = { mark: string; text: string };

const MARKUP = [
  "<script>RUN</script>",
  "<script src=URL></script>",
  "<img src=x onerror=RUN>",
  "<img src=URL>",
  "<svg onload=RUN>",
  "<svg><script>RUN</script></svg>",
  "<svg><image href=URL /></svg>",
  "<svg><use href=URL#x /></svg>",
  "<svg><animate onbegin=RUN attributeName=x dur=1s>",
  "<iframe src=URL></iframe>",
  "<iframe srcdoc='<script>parent.RUN</script>'></iframe>",
  "<object data=URL></object>",
  "<embed src=URL>",
  "<video src=URL autoplay onerror=RUN></video>",
  "<audio src=URL autoplay></audio>",
  "<link rel=stylesheet href=URL>",
  "<link rel=prefetch href=URL>",
  "<style>@import 'URL';</style>",
  "<style>*{background:url(URL)}</style>",
  "<div style=\"background:url('URL')\">x</div>",
  "<base href=URL>",
  "<meta http-equiv=refresh content='0;url=URL'>",
  "<form action=URL><button>x</button></form><script>document.forms[0].submit()</script>",
  "<a href=javascript:RUN>x</a>",
  "<a href='data:text/html,<script>RUN</script>'>x</a>",
  "<body onload=RUN>",
  "<details open ontoggle=RUN>x</details>",
  "<input autofocus onfocus=RUN>",
  "<marquee onstart=RUN>x</marquee>",
  "<template><img src=x onerror=RUN></template>",
  "<math><mtext></mtext><mglyph><style><img src=x onerror=RUN></style></mglyph></math>",
  '"><img src=x onerror=RUN>',
  "' autofocus onfocus=RUN x='",
  "--><script>RUN</script><!--",
  "]]><script>RUN</script>",
  "</title></style></textarea></script><script>RUN</script>",
  "&lt;script&gt;RUN&lt;/script&gt;",
  "{{constructor.constructor('RUN')()}}",
  "${RUN}",
  '{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=RUN>"}}',
];

const MARKDOWN = [
  "![x](URL)",
  "[x](javascript:RUN)",
  "[x](  JaVaScRiPt:RUN)",
  "[x](java\tscript:RUN)",
  "[x](&#106;avascript:RUN)",
  "[x](vbscript:RUN)",
  "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "[x](<javascript:RUN>)",
  "[x][1]\n\n[1]: javascript:RUN",
  "![x][2]\n\n[2]: URL",
  "<javascript:RUN>",
  "```html\n<script>RUN</script>\n```",
  "`<img src=URL>`",
  "| a |\n| --- |\n| <img src=URL> |",
  '[x](URL "" onmouseover=RUN)',
  "# <svg onload=RUN>",
  "- <img src=x onerror=RUN>",
  "> <iframe src=URL>",
  "[![x](URL)](javascript:RUN)",
  "<!-- <img src=URL> -->",
];

const STRANGE = [
  "\u001b]52;c;cHduZWQ=\u0007",
  "\u001b]8;;URL\u0007link\u001b]8;;\u0007",
  "\u001b[2J\u001b[1;1H",
  "\u009b31m",
  "\u202egnp.exe",
  "\u2066a\u2067b\u2069",
  "\u200b\u200d\ufeff\u2060",
  "a\u0000b",
  "a\r\nb\u2028c\u2029d",
  "\ud800 alone",
  "alone \udc00",
  "__proto__",
  "constructor",
  '{"__proto__":{"polluted":true}}',
  "toString",
  `${"W".repeat(4_000)} wide`,
  `${"<b>".repeat(2_000)} deep`,
  `${"> ".repeat(500)} quoted`,
  `${"[".repeat(2_000)} open`,
  `${"z\u0301\u0302".repeat(500)} stacked`,
];

/** Every payload with RUN and URL filled in: first plain, then wrapped in quotes, tags or blank lines. */
export function payloads(count: number, url: string): Payload[] {
  const all = [...MARKUP, ...MARKDOWN, ...STRANGE];
  return Array.from({ length: count }, (_, at) => {
    const mark = `m${String(at).padStart(3, "0")}x`;
    const bare = all[at % all.length]!.replaceAll("RUN", `pwned('${mark}')`).replaceAll("URL", `${url}/${mark}`);
    return { mark, text: `${mark} ${at < all.length ? bare : wrap(bare, at)}` };
  });
}

function wrap(text: string, at: number): string {
  if (at % 3 === 0) return `"'>${text}<"'`;
  if (at % 3 === 1) return `</span></p></li>${text}`;
  return `\n\n${text}\n\n`;
}
