/** Sends an email, and waits until it is delivered. */
import { setTimeout } from 'node:timers/promises';
import { Postrider } from '@postrider/client';

const postrider = new Postrider();

const { id } = await postrider.emails.send({
  from: 'Acme <orders@sandbox.localhost>',
  to: 'delivered@simulator.localhost',
  subject: 'Your order is on its way',
  html: '<p>It will be with you tomorrow.</p>',
  type: 'transactional',
});
for (let tries = 0; tries < 50; tries += 1) {
  const { status } = await postrider.emails.get(id);
  console.log(id, status);
  if (status !== 'queued' && status !== 'sent') break;
  await setTimeout(200);
}
