/** Flows through the pages about marketing: a file of contacts with its mapping, and a broadcast from the segment to the report. */
import assert from 'node:assert/strict';
import { openWorld } from './dashboard/world.ts';
import { until } from './until.ts';

const { flow, daemon, newKey } = await openWorld();
const TEST = '/t/default/test';

const FILE =
  'Mail;Vorname;Tarif;Notiz\ndelivered+ada@simulator.localhost;Ada;pro;<b>x\ndelivered+bob@simulator.localhost;Bob;free;\nnobody;No;pro;\n';

flow(
  'a file of contacts is looked at, its columns are mapped, and its refused rows are downloaded',
  async ({ open, fill, submit, sees, waitFor, page, hasScripts }) => {
    const name = `Readers ${hasScripts}`;
    await open(`${TEST}/audiences`);
    await fill('Name', name);
    await submit('Create an audience');
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    const file = { name: 'readers.csv', mimeType: 'text/csv', buffer: Buffer.from(FILE) };
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await submit('Upload and look at it');
    await sees('3 rows were checked');
    const column = (number: number) => page.getByRole('group', { name: `Column ${number}:` });
    await fill('Becomes', 'firstName', column(2));
    await fill('Becomes', 'property', column(3));
    await fill(/^Name of the property/, 'tier', column(3));
    await fill('Becomes', '', column(4));
    await submit('Look at it again');
    await sees('tier: pro');
    await submit('Start the import');
    await waitFor('completed');
    await sees(/Created\s+2/);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the refused rows' }).click(),
    ]);
    assert.match(download.suggestedFilename(), /\.csv$/);
    await page.getByRole('link', { name: 'To the audience' }).click();
    await sees('delivered+ada@simulator.localhost');
  },
);

flow(
  'a segment becomes a broadcast, which is checked, sent, and reported',
  async ({ open, fill, submit, sees, text, waitFor, page, disclose, hasScripts }) => {
    // What is counted comes behind the page: by itself, or by a link without JavaScript.
    const seesCounted = async (wanted: string) => {
      if (!hasScripts) await page.getByRole('link', { name: 'Show it now' }).click();
      await page.getByText(wanted).first().waitFor();
    };
    const key = await newKey('test');
    const { id } = await post(key, '/v1/audiences', { name: `Customers ${hasScripts}` });
    for (const [who, tier] of [
      ['ada', 'pro'],
      ['bob', 'free'],
      ['cyd', 'pro'],
    ] as const)
      await post(key, `/v1/audiences/${id}/contacts`, {
        email: `delivered+${who}${hasScripts}@simulator.localhost`,
        firstName: who,
        properties: { tier },
      });
    await open(`${TEST}/audiences/${id}/segments/new`);
    await fill('Name', 'Professionals');
    const rule = page.getByRole('group', { name: 'Rule 1' });
    await fill('Field', 'property', rule);
    await fill('Name of the property', 'tier', rule);
    await fill('Value', 'pro', rule);
    await until('the count', async () => {
      await submit('Count');
      return (await text()).includes('Contacts now: 2');
    });
    await submit('Save');
    await sees('Professionals');
    await page.getByRole('link', { name: 'New broadcast' }).click();
    await fill('From', 'News <news@sandbox.localhost>');
    await fill('Subject', 'Hello {{firstName|friend}}');
    await fill('HTML', '<p>Hello {{firstName|friend}}</p><a href="{{{unsubscribe_url}}}">Leave</a>');
    await submit('Save the draft');
    await sees('Hello cyd');
    await page.getByRole('link', { name: 'Check and send' }).click();
    await seesCounted('2 of 2 contacts get it now.');
    await disclose('Send now');
    await submit('Send now');
    await waitFor(/Delivered\s+2/);
    await page.getByRole('link', { name: 'By provider' }).click();
    await seesCounted('Others');
  },
);

async function post(key: string, path: string, body: object): Promise<{ id: string }> {
  const answer = await daemon.request('POST', path, key, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body as { id: string };
}
