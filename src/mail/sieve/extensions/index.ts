/** The tags `:index` and `:last`, which choose an occurrence of a field (RFC 5260 section 6). `match/fields.ts` obeys them. */
import type { Extension } from '../compile/definition.ts';

export const INDEX: Extension = {
  name: 'index',
  tags: [
    {
      on: ['header', 'address', 'date'],
      tags: [
        { name: ':index', value: 'number' },
        { name: ':last', needs: ':index' },
      ],
    },
  ],
};
