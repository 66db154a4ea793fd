import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, textDestination, writeLine } from '../../src/system/log.ts';
import { formatLogLine, parseLogLine } from '../../src/system/log-text.ts';

test('JSON lines have words for levels', () => {
  const written: string[] = [];
  const log = createLog('info', { write: (line) => void written.push(line) });
  log.warn({ host: 'mx.example' }, 'mail deferred');
  assert.match(
    written.join(''),
    /^\{"level":"warn","time":"\d{4}-[^"]+Z","host":"mx\.example","msg":"mail deferred"\}\n$/,
  );
});

test('lines of this thread and of others are text where that is configured', () => {
  const written: string[] = [];
  const log = createLog('info', textDestination({ write: (line) => void written.push(line) }));
  log.info({ to: 'ann@customer.example', code: 250, reply: 'ok then' }, 'mail delivered');
  writeLine(log, '{"level":"error","time":"2026-11-29T08:00:00.000Z","msg":"work failed"}\n');
  writeLine(log, 'not JSON\n');
  const [own = '', foreign, other] = written;
  assert.match(own, /Z INFO {2}mail delivered to=ann@customer\.example code=250 reply="ok then"\n$/);
  assert.equal(foreign, '2026-11-29T08:00:00.000Z ERROR work failed\n');
  assert.equal(other, 'not JSON\n');
});

test('a stack stands below its line, and no character of a stranger controls the terminal', () => {
  const line = {
    time: 'T',
    level: 'error',
    msg: 'work failed',
    err: { stack: 'Error: x\n    at y' },
    name: 'a\u001b[2J',
  };
  const text = formatLogLine(line);
  assert.equal(text, 'T ERROR work failed name="a\\u001b[2J"\n    Error: x\n    at y');
  assert.equal(formatLogLine({ msg: 'a\u202eb\u001bc' }), 'a\ufffdb\ufffdc');
});

test('numbers of earlier versions are read as words', () => {
  assert.equal(parseLogLine('{"level":30,"msg":"a"}')?.['level'], 'info');
  assert.equal(parseLogLine('{"level":'), undefined);
  assert.equal(parseLogLine('plain'), undefined);
});
