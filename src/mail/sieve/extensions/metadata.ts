/** Tests of annotations of mailboxes and of the server (RFC 5490 sections 3 and 4). */
import { MatchValue } from '../comparator.ts';
import type { Call, Extension, Parameter, TestDefinition } from '../definition.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';

const MAILBOX: Parameter = { name: 'mailbox', type: 'text' };
const ENTRY: Parameter = { name: 'annotation name', type: 'text' };
const ENTRIES: Parameter = { name: 'annotation names', type: 'texts' };

/** Returns what names the mailbox of a test; an empty name stands for the server. */
function mailboxOf(call: Call): (run: Run) => string {
  if (!call.has(MAILBOX.name)) return () => '';
  const mailbox = call.text(MAILBOX.name);
  return (run) => mailbox.read(run);
}

function compareTest(name: string, subject: readonly Parameter[]): TestDefinition {
  return {
    name,
    tags: MATCH_TAGS,
    parameters: [...subject, ENTRY, KEYS],
    compile(call) {
      const mailbox = mailboxOf(call);
      const entry = call.text(ENTRY.name);
      const matches = compileMatcher(call);
      return (run) => {
        const value = run.annotationsOf(mailbox(run)).get(entry.read(run).toLowerCase());
        return matches(run, value === undefined ? [] : [new MatchValue(value)]);
      };
    },
  };
}

function existsTest(name: string, subject: readonly Parameter[]): TestDefinition {
  return {
    name,
    parameters: [...subject, ENTRIES],
    compile(call) {
      const mailbox = mailboxOf(call);
      const entries = call.texts(ENTRIES.name);
      return (run) => {
        const known = run.annotationsOf(mailbox(run));
        return entries.read(run).every((entry) => known.has(entry.toLowerCase()));
      };
    },
  };
}

export const MBOXMETADATA: Extension = {
  name: 'mboxmetadata',
  tests: [compareTest('metadata', [MAILBOX]), existsTest('metadataexists', [MAILBOX])],
};

export const SERVERMETADATA: Extension = {
  name: 'servermetadata',
  tests: [compareTest('servermetadata', []), existsTest('servermetadataexists', [])],
};
