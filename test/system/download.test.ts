import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { realClock } from '../../src/system/clock.ts';
import { type Download, download } from '../../src/system/download.ts';
import { createFetch, type Fetch, type HttpRequest } from '../../src/system/fetch.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { LOOPBACK_GUARD, listenOnLoopback } from '../support/loopback.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { CERTIFICATE, KEY } from './download-certificate.ts';

const dns = zoneDns(`
  files.example    A  127.0.0.1
  elsewhere.example A 127.0.0.1
  inside.example   A  10.0.0.1
  rebound.example  A  169.254.169.254
`);
const fetch = createFetch(LOOPBACK_GUARD, dns, { certificateAuthorities: CERTIFICATE });

type Handler = (request: IncomingMessage, response: ServerResponse, port: number) => void;

/** An https server for `files.example` and `elsewhere.example`. */
async function serve(context: TestContext, handler: Handler) {
  const seen: string[] = [];
  let port = 0;
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    seen.push(`${request.method} ${request.headers.host?.split(':')[0]}${request.url}`);
    handler(request, response, port);
  });
  port = await listenOnLoopback(server);
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, seen };
}

/** Room for so many bytes, and how much of it is taken. */
function reservationOf(bytes: number) {
  const reservation = {
    takenBytes: 0,
    most: 0,
    take(more: number) {
      if (reservation.takenBytes + more > bytes) return false;
      reservation.takenBytes += more;
      reservation.most = Math.max(reservation.most, reservation.takenBytes);
      return true;
    },
    release() {
      reservation.takenBytes = 0;
    },
  };
  return reservation;
}

type More = {
  maxBytes?: number;
  timeoutMs?: number;
  fetch?: Fetch;
  reservation?: ReturnType<typeof reservationOf>;
};

const get = (url: string, more: More = {}) =>
  download(
    { clock: realClock, fetch: more.fetch ?? fetch },
    {
      ...{ url, maxRedirects: 3, reservation: more.reservation ?? reservationOf(1_000_000) },
      ...{ maxBytes: more.maxBytes ?? 1_000, timeoutMs: more.timeoutMs ?? 5_000 },
    },
  );

const reason = async (answer: Promise<Download>) => {
  const ended = await answer;
  return ended.kind === 'refused' ? ended.reason : ended.kind;
};

const redirect =
  (to: string, status = 302): Handler =>
  (_request, response) =>
    void response.writeHead(status, { location: to }).end();

test('a file arrives as it is, with its type', async (context) => {
  const bytes = Buffer.from([0, 255, 13, 10, 128]);
  const { port, seen } = await serve(context, (request, response) => {
    if (request.url === '/plain') response.end('x');
    else response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
  });
  assert.deepEqual(await get(`https://files.example:${port}/a?b`), {
    kind: 'ok',
    bytes,
  });
  assert.deepEqual(await get(`https://files.example:${port}/plain`), {
    kind: 'ok',
    bytes: Buffer.from('x'),
  });
  assert.deepEqual(seen, ['GET files.example/a?b', 'GET files.example/plain']);
});

test('a URL that must not be fetched is refused without a request', async () => {
  const requests: HttpRequest[] = [];
  const refusing: Fetch = (request) => {
    requests.push(request);
    return Promise.reject(new Error('asked'));
  };
  for (const [url, why] of [
    ['http://files.example/', 'the URL does not use https'],
    ['ftp://files.example/', 'the URL does not use https'],
    ['file:///etc/passwd', 'the URL does not use https'],
    ['data:text/plain,x', 'the URL does not use https'],
    ['https://user@files.example/', 'the URL holds a user name or password'],
    ['https://:secret@files.example/', 'the URL holds a user name or password'],
    ['https://files.example:25/', 'the URL uses port 25, a mail port'],
    ['https://files.example:0587/', 'the URL uses port 587, a mail port'],
    ['', 'the URL leads nowhere'],
    ['/relative', 'the URL leads nowhere'],
  ] as const) {
    assert.equal(await reason(get(url, { fetch: refusing })), why, url);
  }
  assert.deepEqual(requests, []);
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect with ${status} is followed, on the same host and to another`, async (context) => {
    const { port, seen } = await serve(context, (request, response, port) => {
      if (request.url === '/a') redirect('b', status)(request, response, port);
      else if (request.url === '/b')
        redirect(`https://elsewhere.example:${port}/c`, status)(request, response, port);
      else response.end('there');
    });
    const answer = await get(`https://files.example:${port}/a`);
    assert.equal(answer.kind === 'ok' && String(answer.bytes), 'there');
    assert.deepEqual(seen, ['GET files.example/a', 'GET files.example/b', 'GET elsewhere.example/c']);
  });
}

test('a redirect is checked like the first URL', async (context) => {
  let to = '';
  const { port, seen } = await serve(context, (request, response, own) =>
    redirect(to)(request, response, own),
  );
  for (const [location, why] of [
    ['http://files.example/', 'a redirect does not use https'],
    ['//user@files.example/', 'a redirect holds a user name or password'],
    ['https://files.example:465/', 'a redirect uses port 465, a mail port'],
    ['https://[', 'a redirect leads nowhere'],
    ['', 'a redirect leads nowhere'],
    ['https://10.0.0.1/', '10.0.0.1 has no public address'],
    ['https://169.254.169.254/latest/meta-data/', '169.254.169.254 has no public address'],
    ['https://[::ffff:10.0.0.1]/', '::ffff:a00:1 has no public address'],
    ['https://inside.example/', 'inside.example has no public address'],
    ['https://rebound.example/', 'rebound.example has no public address'],
    ['https://nowhere.example/', 'nowhere.example has no public address'],
  ] as const) {
    to = location;
    assert.equal(await reason(get(`https://files.example:${port}/`)), why, location);
  }
  assert.equal(seen.length, 11, 'each stopped at its first hop');
});

test('three redirects are followed, and no fourth', async (context) => {
  const { port, seen } = await serve(context, (request, response, own) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('there');
    else redirect(`/${left - 1}`)(request, response, own);
  });
  assert.equal((await get(`https://files.example:${port}/3`)).kind, 'ok');
  assert.equal(await reason(get(`https://files.example:${port}/4`)), 'there are more than 3 redirects');
  assert.equal(seen.length, 8);
});

test('a download that is answered with neither 200 nor a redirect is refused', async (context) => {
  const { port } = await serve(context, (request, response) => {
    response.writeHead(Number(request.url?.slice(1)), { location: '/200' }).end();
  });
  for (const status of [201, 204, 206, 300, 304, 401, 404, 500]) {
    const why = `it was answered with status ${status}`;
    assert.equal(await reason(get(`https://files.example:${port}/${status}`)), why);
  }
});

test('a file as large as the limit is taken, one byte more is refused', async (context) => {
  const { port } = await serve(context, (request, response) => {
    const bytes = 'x'.repeat(Number(request.url?.slice(2)));
    if (request.url?.startsWith('/c')) response.write(bytes.slice(0, 10));
    response.end(request.url?.startsWith('/c') ? bytes.slice(10) : bytes);
  });
  for (const way of ['l', 'c']) {
    assert.equal((await get(`https://files.example:${port}/${way}1000`)).kind, 'ok');
    assert.equal(
      await reason(get(`https://files.example:${port}/${way}1001`)),
      'it is larger than 1000 bytes',
    );
  }
});

test('a downloaded file keeps its reservation until the caller releases it, and a failed download keeps none', async (context) => {
  const { port } = await serve(context, (request, response) => {
    const [status, length] = { '/gone': [404, 300], '/file': [200, 400] }[request.url ?? ''] ?? [302, 500];
    response
      .writeHead(status ?? 0, { location: '/file', 'content-length': length })
      .end('x'.repeat(length ?? 0));
  });
  for (const [path, kind, takenBytes, most] of [
    ['/file', 'ok', 400, 400],
    ['/moved', 'ok', 400, 500],
    ['/gone', 'refused', 0, 300],
  ] as const) {
    const reservation = reservationOf(700);
    assert.equal((await get(`https://files.example:${port}${path}`, { reservation })).kind, kind, path);
    assert.deepEqual([reservation.takenBytes, reservation.most], [takenBytes, most], path);
  }
});

test('a download without memory is not blamed on the file, and keeps no reservation', async (context) => {
  const { port } = await serve(context, (_request, response) => {
    for (let part = 0; part < 4; part++) response.write('x'.repeat(50_000));
    response.end();
  });
  const reservation = reservationOf(150_000);
  const answer = await get(`https://files.example:${port}/`, { reservation, maxBytes: 1_000_000 });
  assert.deepEqual(answer, { kind: 'budget-exhausted' });
  assert.ok(reservation.most > 0);
  assert.equal(reservation.takenBytes, 0);
});

test('little more than the limit is read of an endless file', async (context) => {
  let sent = 0;
  const { port } = await serve(context, (_request, response) => {
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
    };
    response.on('drain', pour);
    pour();
  });
  assert.equal(
    await reason(get(`https://files.example:${port}/`, { maxBytes: 100_000 })),
    'it is larger than 100000 bytes',
  );
  assert.ok(sent < 20_000_000, `${sent}`);
});

test('a file that is longer or shorter than its declared length is refused', async (context) => {
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const announced = /^GET \/(\d+)/.exec(String(data))?.[1];
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${announced}\r\n\r\n${'x'.repeat(500)}`);
    });
  });
  context.after(() => server.close());
  const port = await listenOnLoopback(server);
  const url = (announced: number) => `https://files.example:${port}/${announced}`;
  assert.equal(
    await reason(get(url(501))),
    'its server could not be reached or closed the connection',
    'longer than what comes',
  );
  assert.equal(await reason(get(url(2_000))), 'its server could not be reached or closed the connection');
  // RFC 9112 section 6.3: what comes after the announced bytes is no part of the answer.
  const cut = await get(url(499));
  assert.equal(cut.kind === 'ok' && cut.bytes.length, 499);
  assert.equal((await get(url(500))).kind, 'ok');
});

const compressed = (header: string) =>
  `it was sent compressed (${header}), although the request asked for it as it is`;

test('a file with a Content-Encoding is refused, whatever it is and wherever in the list', async (context) => {
  const asked: unknown[] = [];
  const { port } = await serve(context, (request, response) => {
    asked.push(request.headers['accept-encoding']);
    const codings = decodeURIComponent(request.url?.slice(1) ?? '').split(';');
    response.setHeader('content-encoding', codings).end(gzipSync('the file'));
  });
  const url = (codings: string) => `https://files.example:${port}/${encodeURIComponent(codings)}`;
  for (const codings of ['gzip', 'X-GZIP', 'br', 'zstd', 'identity, gzip', 'identity;gzip', 'nonsense']) {
    assert.equal(await reason(get(url(codings))), compressed('Content-Encoding'), codings);
  }
  for (const codings of ['identity', 'Identity', 'identity;identity', '']) {
    assert.equal(await reason(get(url(codings))), 'ok', codings);
  }
  assert.deepEqual([...new Set(asked)], ['identity']);
});

test('a file with a Transfer-Encoding that compresses is refused', async (context) => {
  const file = gzipSync('the file');
  const chunk = Buffer.concat([
    Buffer.from(`${file.length.toString(16)}\r\n`),
    file,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const coding = decodeURIComponent(/^GET \/(\S*)/.exec(String(data))?.[1] ?? '');
      const fields = coding.split(';').map((one) => `Transfer-Encoding: ${one}\r\n`);
      socket.write(`HTTP/1.1 200 OK\r\n${fields.join('')}\r\n`);
      socket.end(coding.endsWith('hunked') ? chunk : file);
    });
  });
  context.after(() => server.close());
  const port = await listenOnLoopback(server);
  const ended = (coding: string) =>
    reason(get(`https://files.example:${port}/${encodeURIComponent(coding)}`));
  for (const coding of ['gzip, chunked', 'gzip;chunked', 'GZIP', 'deflate,chunked', 'x-gzip']) {
    assert.equal(await ended(coding), compressed('Transfer-Encoding'), coding);
  }
  assert.equal(await ended('Chunked'), 'ok');
});

test('a certificate that is not trusted, or is for another name, is refused', async (context) => {
  const { port, seen } = await serve(context, (_request, response) => void response.end('x'));
  const url = `https://files.example:${port}/`;
  assert.equal(
    await reason(get(url, { fetch: createFetch(LOOPBACK_GUARD, dns) })),
    'its server could not be reached or closed the connection',
  );
  const other = zoneDns('other.example A 127.0.0.1');
  const trusting = createFetch(LOOPBACK_GUARD, other, { certificateAuthorities: CERTIFICATE });
  const misnamed = `https://other.example:${port}/`;
  assert.equal(
    await reason(get(misnamed, { fetch: trusting })),
    'its server could not be reached or closed the connection',
  );
  assert.deepEqual(seen, []);
});

test('a server that sends very slowly is abandoned when the time limit has passed', async (context) => {
  const { port } = await serve(context, (_request, response) => {
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  });
  const began = performance.now();
  const url = `https://files.example:${port}/`;
  assert.equal(await reason(get(url, { timeoutMs: 200 })), 'it took longer than 0.2 seconds');
  assert.ok(performance.now() - began < 20_000);
});

test('the time is that of all hops together', async () => {
  const clock = createFakeClock(0);
  const limits: number[] = [];
  const slow: Fetch = async ({ timeoutMs }) => {
    limits.push(timeoutMs);
    await clock.advance(4_000);
    return { status: 302, headers: { location: '/next' }, body: Buffer.alloc(0), truncated: false };
  };
  const answer = download(
    { clock, fetch: slow },
    {
      url: 'https://files.example/',
      maxBytes: 1,
      timeoutMs: 10_000,
      maxRedirects: 9,
      reservation: reservationOf(0),
    },
  );
  assert.equal(await reason(answer), 'it took longer than 10 seconds');
  assert.deepEqual(limits, [10_000, 6_000, 2_000]);
});
