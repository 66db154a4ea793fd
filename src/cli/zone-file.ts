/** DNS records as lines of a zone file (RFC 1035 5), every name absolute, so that they can be put into any zone. */

export type ZoneRecord = { type: string; name: string; value: string; purpose: string };

/** An hour: short enough to change one's mind. */
const TTL_SECONDS = 3_600;
/** RFC 1035 3.3: the longest character-string, in octets; all our text is ASCII. */
const MAX_CHARACTER_STRING = 255;

/** Each record under a comment that says what it is for; records for the same thing share one. */
export function zoneFile(records: readonly ZoneRecord[]): string {
  return records
    .flatMap((record, index) => {
      const line = `${record.name}. ${TTL_SECONDS} IN ${record.type} ${rdata(record)}`;
      return records[index - 1]?.purpose === record.purpose ? [line] : [`; ${record.purpose}`, line];
    })
    .join('\n');
}

function rdata({ type, value }: ZoneRecord): string {
  switch (type) {
    case 'TXT':
      return characterStrings(value);
    case 'MX':
    case 'CNAME':
      return `${value}.`;
    default:
      return value;
  }
}

/** RFC 1035 5.1: quoted, with `"` and `\\` escaped. */
function characterStrings(text: string): string {
  const strings: string[] = [];
  for (let start = 0; start === 0 || start < text.length; start += MAX_CHARACTER_STRING) {
    strings.push(text.slice(start, start + MAX_CHARACTER_STRING));
  }
  return strings.map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ');
}
