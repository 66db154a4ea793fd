/** Messages of a mailbox: plain ones, ones with HTML, and ones with a file, 3.2 kB each on average. The same in every run. */

/** Word that the subject of one message in a hundred has. */
export const SUBJECT_WORD = 'quarterly';
/** Word that the text of one message in a thousand has. */
export const TEXT_WORD = 'heliotrope';

const WORDS = `lorem ipsum meeting report invoice garden window market river table weather question answer
morning evening project budget holiday printer keyboard ticket letter contract delivery station country
people number water music picture kitchen summer winter travel book paper`.split(/\s+/);
const SUBJECT_EVERY = 100;
const TEXT_EVERY = 1_000;
const TEXT_WORDS = 300;
const FILE_BYTES = 1_200;
const START = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

/** Returns the messages `from` to `from + count - 1`. */
export function sampleMessages(count: number, from = 0): Buffer[] {
  return Array.from({ length: count }, (_, index) => sampleMessage(from + index));
}

function sampleMessage(number: number): Buffer {
  const random = createRandom(number + 1);
  const word = () => WORDS[random(WORDS.length)] ?? '';
  const words = (count: number) => Array.from({ length: count }, word).join(' ');
  const special = number % SUBJECT_EVERY === 0 ? ` ${SUBJECT_WORD}` : '';
  const text = wrap(words(TEXT_WORDS) + (number % TEXT_EVERY === 0 ? ` ${TEXT_WORD}` : ''));
  const header = [
    `Received: from mail${random(9)}.example.org by mx.example.com with ESMTPS id ${number}; Thu, 1 Jan 2026 00:00:00 +0000`,
    `Message-ID: <${number}.${random(1e9)}@example.org>`,
    `Date: ${new Date(START + number * MINUTE_MS).toUTCString().replace('GMT', '+0000')}`,
    `From: "${word()} ${word()}" <${word()}${number % 50}@example.org>`,
    `To: user@example.com, ${word()}@example.com`,
    `Subject: ${words(5)}${special} ${number}`,
    'MIME-Version: 1.0',
  ];
  return Buffer.from(`${[...header, ...bodyOf(number, text, random)].join('\r\n')}\r\n`);
}

function bodyOf(number: number, text: string, random: (below: number) => number): string[] {
  const plain = ['Content-Type: text/plain; charset=utf-8', '', text];
  if (number % 3 === 0) return plain;
  const boundary = `=_${number}`;
  const isAlternative = number % 3 === 1;
  const html = [
    'Content-Type: text/html; charset=utf-8',
    '',
    `<html><body><p>${text.slice(0, 900)}</p></body></html>`,
  ];
  const octets = Buffer.from(Array.from({ length: FILE_BYTES }, () => random(256)));
  const file = [
    'Content-Type: application/octet-stream; name="file.bin"',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename="file.bin"',
    '',
    octets.toString('base64').replace(/.{76}/g, '$&\r\n'),
  ];
  return [
    `Content-Type: multipart/${isAlternative ? 'alternative' : 'mixed'}; boundary="${boundary}"`,
    '',
    ...[`--${boundary}`, ...plain, `--${boundary}`, ...(isAlternative ? html : file), `--${boundary}--`],
  ];
}

function wrap(text: string): string {
  return text.replace(/(.{1,70}) /g, '$1\r\n');
}

/** Linear congruential generator, with the constants of glibc. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}
