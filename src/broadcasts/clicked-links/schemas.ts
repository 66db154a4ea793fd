/** Schemas of the tracked links of a broadcast. */
import { Type } from 'typebox';
import { pageSchema } from '../../http/json/page.ts';

const clickedLinkSchema = Type.Object(
  {
    number: Type.Integer({ description: 'Position among the tracked links of the HTML, from 0.' }),
    url: Type.String({ description: 'The link as it was written, with its placeholders.' }),
    clicks: Type.Integer({ description: 'Clicks by people.' }),
    uniqueClicks: Type.Integer({ description: 'Contacts who clicked.' }),
    machineClicks: Type.Integer({ description: 'Requests by security scanners and other programs.' }),
  },
  {
    title: 'ClickedLink',
    examples: [
      {
        number: 0,
        url: 'https://example.com/sale?c={{id}}',
        clicks: 41,
        uniqueClicks: 37,
        machineClicks: 12,
      },
    ],
  },
);

export const clickedLinksSchema = pageSchema(clickedLinkSchema);
