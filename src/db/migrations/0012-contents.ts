import type { Migration } from '../migration.ts';

/**
 * Stores the content of a message once: `contents` holds its texts, and the message is composed when it is sent. A
 * message without files then has no blob, so `blobId` may be null. Messages of earlier versions keep their blobs, and
 * their emails keep `html` and `text`. No row is rewritten.
 */
export const contents: Migration = {
  id: '0012-contents',
  columnChange: {
    table: 'messages',
    from: 'blobId TEXT NOT NULL REFERENCES blobs (id)',
    to: 'blobId TEXT REFERENCES blobs (id)',
  },
  sql: `
CREATE TABLE contents (
  id INTEGER PRIMARY KEY,
  tenantId TEXT NOT NULL,
  sizeBytes INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  source BLOB NOT NULL
) STRICT;
ALTER TABLE messages ADD COLUMN contentId INTEGER REFERENCES contents (id);
ALTER TABLE messages ADD COLUMN composer INTEGER;
ALTER TABLE messages ADD COLUMN fields TEXT;
ALTER TABLE messages ADD COLUMN mergeValues TEXT;
CREATE INDEX messagesByContent ON messages (contentId) WHERE contentId IS NOT NULL;
DROP INDEX messagesByBlob;
CREATE INDEX messagesByBlob ON messages (blobId) WHERE blobId IS NOT NULL;
`,
};
