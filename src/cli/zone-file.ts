/**
 * Formats DNS records as lines of a zone file (RFC 1035 section 5). Every name is absolute, so that the lines are
 * valid in any zone.
 */

type ZoneRecord = { type: string; name: string; value: string; purpose: string };

/** TTL of the records: one hour, so that a change takes effect soon. */
const TTL_SECONDS = 3_600;
/** Maximum length of a character-string in octets (RFC 1035 section 3.3). Our text is all ASCII. */
const MAX_CHARACTER_STRING = 255;

/** Returns each record below a comment with its purpose. Adjacent records with the same purpose share one comment. */
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

/** Returns the text as quoted character-strings, with `"` and `\\` escaped (RFC 1035 section 5.1). */
function characterStrings(text: string): string {
  const strings: string[] = [];
  for (let start = 0; start === 0 || start < text.length; start += MAX_CHARACTER_STRING) {
    strings.push(text.slice(start, start + MAX_CHARACTER_STRING));
  }
  return strings.map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ');
}
