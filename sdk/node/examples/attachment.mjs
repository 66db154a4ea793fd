/** Sends a file as it is read. */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Postrider } from '@postrider/client';

const postrider = new Postrider();
const path = process.argv[2] ?? new URL(import.meta.url).pathname;

const { id, idempotencyKey } = await postrider.emails.send({
  from: 'Acme <orders@sandbox.localhost>',
  to: 'delivered@simulator.localhost',
  subject: 'A file',
  text: 'It is attached.',
  type: 'transactional',
  attachments: [{ filename: basename(path), content: createReadStream(path) }],
});
console.log(id, idempotencyKey);
