/** Prints the newest 50 emails, over as many pages as they need. */
import { Postrider } from '@postrider/client';

const postrider = new Postrider();

let count = 0;
for await (const { id, status, subject } of postrider.emails.list({ limit: 20 })) {
  console.log(id, status, subject);
  count += 1;
  if (count === 50) break;
}
console.log(`${count} emails`);
