/** The tag `:copy`, with which an action leaves the implicit keep (RFC 3894). */
import type { Extension } from '../compile/definition.ts';

export const COPY: Extension = {
  name: 'copy',
  tags: [
    {
      on: ['fileinto', 'redirect'],
      tags: [
        {
          name: ':copy',
          modify: () => (options) => {
            options.leavesKeep = true;
          },
        },
      ],
    },
  ],
};
