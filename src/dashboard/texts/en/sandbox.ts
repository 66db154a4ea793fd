/** Texts of the pages for developers: the check of an email, the log of requests, and the simulator. */
export const check = {
  title: 'Check of the email',
  help: 'The message is read; nothing in it is loaded or followed.',
  size: 'Whole message',
  findings: 'Findings',
  nothingFound: 'Nothing was found.',
  severity: 'Severity',
  severities: { error: 'error', warning: 'warning', notice: 'notice' },
  finding: 'Finding',
  count: 'Count',
  places: 'Where',
  links: 'Links',
  noLinks: 'There are no links.',
  line: 'Line',
  linkText: 'Text',
  url: 'Address',
  omitted: (count: string) => `Further links that are not shown: ${count}.`,
  headers: 'Headers as they are sent',
};

export const requests = {
  title: 'Request log',
  help: 'Requests that programs made with the API keys of this mode, without their bodies.',
  none: 'No requests yet.',
  at: 'Time',
  request: 'Request',
  status: 'Status',
  method: 'Method',
  pathBegins: 'Path begins with',
  duration: 'Duration',
  client: 'From',
  key: 'API key',
  keyId: 'ID of the API key',
  id: 'ID',
};

export const simulator = {
  title: 'Simulator',
  help: (domain: string) =>
    `Test mail goes to the simulator. Addresses at ${domain} behave as their names say: delivered, bounced, complained, delayed, suppressed, opened, clicked. The SMTP reply to custom can be chosen here.`,
  testOnly: 'The reply belongs to test mode: choose it there.',
  present: 'Present reply',
  none: 'The simulator answers as the addresses say.',
  remove: 'Remove the reply',
  choose: 'Choose a reply',
  set: 'Use this reply',
  code: 'Code',
  codeHelp: '2yz accepts the email, 4yz defers it, 5yz refuses it.',
  enhancedCode: 'Enhanced code, such as 5.1.1 (may be empty)',
  text: 'Text',
  recipients: 'For',
  recipientNames: { custom: 'custom@ the simulator', all: 'every recipient of test mail' },
};
