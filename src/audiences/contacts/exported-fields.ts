/** The first columns of an export. An import knows an exported file by them. */
export const EXPORTED_FIELDS: readonly string[] = [
  'email',
  'firstName',
  'lastName',
  'unsubscribed',
  'pending',
];
