/** Links of HTML that browsers and parsers of addresses have to agree on. */

/** Parts of addresses that parsers treat in different ways. */
const PARTS = {
  start: ['https://', 'HTTP://', 'https:\\\\', 'https:/\\', ' https://', 'ht&Tab;tps://', '&#104;ttp://'],
  host: ['a.example', 'A.Example:8080', 'münchen.example', 'a.example:443', 'xn--mnchen-3ya.example'],
  path: ['', '/', '/a b', '/%7Eu/ü', '\\x\\..\\y', '/a/../b/./c', '/;p=1,2', "/'q'", '/😀', '/%zz'],
  query: ['', '?a=1&amp;b=2', '?a=1&b=2', '?q=ü&eacute;', '?a=%26&amp;amp;', '?x="&quot;', '?copy=1&copy=2'],
  fragment: ['', '#top', '#a b', '#{x}', '#&lt;b&gt;'],
};

/** Returns 500 values of `href` made of these parts, the same ones each time. A value stands between apostrophes. */
export function hrefs(): string[] {
  let state = 7;
  const pick = (list: readonly string[]) => {
    state = (state * 48_271) % 2_147_483_647;
    return list[state % list.length] ?? '';
  };
  return Array.from({ length: 500 }, () =>
    [PARTS.start, PARTS.host, PARTS.path, PARTS.query, PARTS.fragment]
      .map(pick)
      .join('')
      .replaceAll("'", '&#39;'),
  );
}
