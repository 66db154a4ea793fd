/** CANCELUPDATE (RFC 5267 section 4.3.5): ends the updates of searches. */
import { defineCommand, selectedOf } from './command.ts';

export const cancelUpdate = defineCommand({
  name: 'CANCELUPDATE',
  states: 'selected',
  parse(cursor) {
    const tags: string[] = [];
    do {
      cursor.space();
      tags.push(cursor.string());
    } while (!cursor.isAtEnd);
    return tags;
  },
  run: (connection, tags) => selectedOf(connection).cancelUpdates(tags),
});
