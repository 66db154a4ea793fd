/** The folders that every account begins with. */

/** Folders of a new account. Clients know them by their special use (RFC 6154) and show those that are subscribed. */
export const FIRST_FOLDERS = [
  { name: 'INBOX', specialUse: null },
  { name: 'Drafts', specialUse: '\\Drafts' },
  { name: 'Sent', specialUse: '\\Sent' },
  { name: 'Junk', specialUse: '\\Junk' },
  { name: 'Trash', specialUse: '\\Trash' },
  { name: 'Archive', specialUse: '\\Archive' },
] as const;
