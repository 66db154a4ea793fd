/**
 * The client libraries: the cost of a send beside a bare request of the same language, connections, sends through faults, memory for a large
 * attachment, time of the import, and sizes; and what Resend's wire costs.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PACKAGES } from '../sdks/languages.ts';
import {
  browserBundleBytes,
  type Installed,
  installedSizes,
  MAX_BUNDLE_BYTES,
  MAX_INSTALLED_BYTES,
} from '../sdks/sizes.ts';
import { installPackages } from '../support/debian.ts';
import { median } from './percentile.ts';
import type { Group, Measure, Row } from './row.ts';
import { EMAILS, measureFaults } from './sdks/faults.ts';
import { type Language, prepareLanguages, runTask, startTask } from './sdks/languages.ts';
import { resendRow } from './sdks/resend.ts';
import { startSendServer } from './sdks/server.ts';
import type { Workspace } from './workspace.ts';

const SENDS = 1_000;
const CALLS_OF_A_CALLER = 10;
const MAX_CONNECTIONS = 100;
const RETRIES = [5, 2];
const MIB = 1_048_576;
const FILE_BYTES = 25 * MIB;
/** Multiple of the size of an attachment that a send may take. Source: issue 30. */
const MAX_FILES = 3;
const MAX_IMPORT_MS = 30;
const IMPORTS = 20;
/** Time after `close()` in which the system tells the server that a connection has ended. */
const CLOSE_MS = 200;
const KEY = 'svc_dev_bench';

export const sdks: Group = {
  name: 'sdks',
  async prepare(workspace) {
    const reason = installPackages(PACKAGES);
    if (reason !== undefined) return { unavailable: reason };
    const languages = prepareLanguages(workspace);
    const file = join(workspace.newFolder('sdk-attachment'), 'file');
    writeFileSync(file, randomBytes(FILE_BYTES));
    return {
      rows: [
        ...languages.map(overheadRow),
        ...languages.map(connectionsRow),
        ...RETRIES.flatMap((retries) => languages.map((one) => faultsRow(workspace, one, retries))),
        ...languages.map((language) => attachmentRow(language, file)),
        ...languages.map(importRow),
        ...(await installedSizes()).map(sizeRow),
        bundleRow(),
        resendRow(workspace),
      ],
    };
  },
};

function overheadRow(language: Language): Row {
  return {
    name: `${language.name} library: a send over a bare request, ${SENDS.toLocaleString('en')} in a row`,
    unit: 'µs',
    aim: `<= ${language.maxOverheadUs} µs, 1 connection`,
    async measure() {
      using server = await startSendServer();
      const found = await runTask(language, { address: server.address, key: KEY }, ['sends', SENDS]);
      const {
        sendUs = Number.NaN,
        bareUs = Number.NaN,
        sendCpuUs = Number.NaN,
        bareCpuUs = Number.NaN,
      } = found;
      return {
        figure: sendUs - bareUs,
        details: {
          connections: server.connections(),
          'a send, µs': sendUs,
          'a bare request, µs': bareUs,
          'CPU over a bare request, µs': sendCpuUs - bareCpuUs,
        },
      };
    },
  };
}

function connectionsRow(language: Language): Row {
  const { name, callers } = language;
  return {
    name: `${name} library: connections of ${callers === 1 ? 'one caller' : `${callers} callers at once`}`,
    unit: 'connections',
    aim: `<= ${MAX_CONNECTIONS}, ${name === 'Node.js' ? 'kept by the runtime' : 'none after close()'}`,
    async measure() {
      using server = await startSendServer();
      const target = { address: server.address, key: KEY };
      await using program = startTask(language, target, ['parallel', callers, CALLS_OF_A_CALLER]);
      await program.line();
      await delay(CLOSE_MS);
      return { figure: server.connections(), details: { 'open after close()': server.open() } };
    },
  };
}

function faultsRow(workspace: Workspace, language: Language, maxRetries: number): Row {
  return {
    name: `${language.name} library: emails of ${EMAILS.toLocaleString('en')} sends through faults, maxRetries ${maxRetries}`,
    unit: 'emails',
    aim: `${EMAILS.toLocaleString('en')}, none twice`,
    rounds: 1,
    measure: () => measureFaults(workspace, language, maxRetries),
  };
}

function attachmentRow(language: Language, file: string): Row {
  return {
    name: `${language.name} library: memory for an attachment of ${FILE_BYTES / MIB} MiB`,
    unit: 'MiB',
    aim: `<= ${(MAX_FILES * FILE_BYTES) / MIB} MiB, ${MAX_FILES} x the file`,
    async measure() {
      using server = await startSendServer();
      const measure = async (kind: string) => {
        const target = { address: server.address, key: KEY };
        const { bytes = Number.NaN } = await runTask(language, target, ['attachment', kind, file]);
        return bytes / MIB;
      };
      const details = { 'from an open file': await measure('file'), 'from bytes': await measure('bytes') };
      return { figure: Math.max(...Object.values(details)), details };
    },
  };
}

function importRow(language: Language): Row {
  return {
    name: `${language.name} library: import over the standard modules that it uses, median of ${IMPORTS}`,
    unit: 'µs',
    aim: `<= ${(MAX_IMPORT_MS * 1_000).toLocaleString('en')} µs`,
    async measure(): Promise<Measure> {
      const target = { address: 'http://127.0.0.1:9', key: KEY };
      const runs: Record<string, number>[] = [];
      // The first import fills the caches of the system and of the language.
      for (let run = 0; run <= IMPORTS; run++) runs.push(await runTask(language, target, ['import']));
      const medianUs = (name: string) =>
        median(runs.slice(1).map((run) => (run[name] ?? Number.NaN) * 1_000));
      return { figure: medianUs('ms'), details: { 'of these CPU, µs': medianUs('cpuMs') } };
    },
  };
}

function sizeRow({ name, bytes, details }: Installed): Row {
  return {
    name: `${name} library: installed`,
    unit: 'bytes',
    aim: `< ${MAX_INSTALLED_BYTES.toLocaleString('en')} bytes`,
    rounds: 1,
    measure: async () => ({ figure: bytes, details }),
  };
}

function bundleRow(): Row {
  return {
    name: 'Node.js library: bundled for a browser, gzipped',
    unit: 'bytes',
    aim: `<= ${MAX_BUNDLE_BYTES.toLocaleString('en')} bytes, no warning`,
    rounds: 1,
    measure: async () => ({ figure: await browserBundleBytes() }),
  };
}
