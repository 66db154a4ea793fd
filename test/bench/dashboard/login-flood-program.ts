/**
 * Tries passwords of one account from many addresses of this machine, as fast as they are answered. Prints one line of JSON: how often
 * the daemon has compared a password, and how often it refused to.
 */
import { Agent, request } from 'node:http';

export type LoginFlood = { port: number; account: string; attempts: number; addresses: number };

export type LoginFloodResult = {
  /** Attempts whose password was compared: in the first minute, and in each minute after. */
  comparedFirst: number;
  comparedLater: number;
  /** Attempts that were refused without a comparison. */
  refused: number;
  seconds: number;
  attempts: number;
};

/** Each connection has an address of its own. */
const CONNECTIONS = 32;
const MINUTE_MS = 60_000;

const flood = JSON.parse(process.argv[2] ?? '') as LoginFlood;
const startedAt = performance.now();
let begun = 0;
const result = { comparedFirst: 0, comparedLater: 0, refused: 0, attempts: 0 };

await Promise.all(Array.from({ length: CONNECTIONS }, run));
const seconds = (performance.now() - startedAt) / 1_000;
console.log(JSON.stringify({ ...result, seconds } satisfies LoginFloodResult));
process.exit(0);

async function run(): Promise<void> {
  while (begun < flood.attempts) {
    const number = begun++;
    const text = await attempt(number);
    result.attempts++;
    if (!text.includes('password is wrong')) result.refused++;
    else if (performance.now() - startedAt < MINUTE_MS) result.comparedFirst++;
    else result.comparedLater++;
  }
}

function attempt(number: number): Promise<string> {
  const body = new URLSearchParams({
    _action: 'login',
    email: flood.account,
    password: `guess number ${number}`,
  }).toString();
  const place = number % flood.addresses;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: flood.port,
        path: '/login',
        method: 'POST',
        // The addresses 127.1.0.1 to 127.1.255.250.
        localAddress: `127.1.${Math.floor(place / 250)}.${(place % 250) + 1}`,
        agent: new Agent({ keepAlive: false }),
        headers: {
          host: `localhost:${flood.port}`,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        let text = '';
        response.on('data', (part: Buffer) => {
          text += part.toString();
        });
        response.on('end', () => resolve(text));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
