import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBinary } from '../../../src/mail/message/encode-binary.ts';

const encode = (text: string) => encodeBinary(Buffer.from(text, 'latin1')).toString('latin1');

test('the parts that have NUL become base64, and the others stay as they are', () => {
  const head = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n';
  assert.equal(
    encode(
      `${head}--b\r\n\r\ntext\n\r\n--b\r\nContent-Type: a/b\r\nContent-Transfer-Encoding:\r\n binary\r\nX: y\r\n\r\n\0\n\0\r\n--b\r\n\r\nlast\r\n--b--\r\n`,
    ),
    `${head}--b\r\n\r\ntext\r\n\r\n--b\r\nContent-Type: a/b\r\nX: y\r\nContent-Transfer-Encoding: base64\r\n\r\nAAoA\r\n--b\r\n\r\nlast\r\n--b--\r\n`,
  );
});

test('a message that is one part is encoded as a whole, and NUL in a header is left out', () => {
  assert.equal(
    encode('Subject: a\0b\r\n\r\n\0x'),
    'Subject: ab\r\nContent-Transfer-Encoding: base64\r\n\r\nAHg=\r\n',
  );
});

test('a message in a message is encoded inside', () => {
  assert.equal(
    encode('Content-Type: message/rfc822\r\n\r\nSubject: in\r\n\r\n\0'),
    'Content-Type: message/rfc822\r\n\r\nSubject: in\r\nContent-Transfer-Encoding: base64\r\n\r\nAA==\r\n',
  );
});
