/**
 * The set-up, from a bare machine to a first mail. Each step looks first whether it was done, so that a set-up that was interrupted
 * anywhere goes on when it is run again, and one on a complete installation only checks and reports.
 */
import type { Config } from '../../config/config.ts';
import { type Finding, findingsOf, worstOf } from '../../doctor/check.ts';
import { CommandError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';
import { type Made, makeAccounts, makeMailbox } from './accounts.ts';
import type { Answers } from './answers.ts';
import { awaitCertificate } from './certificate.ts';
import { findPlaces, type Places, writeConfiguration } from './configuration.ts';
import { checkMachine } from './machine.ts';
import { sendMessage } from './message.ts';
import { checkNetwork, checkOutbound, findOwnAddresses, openWorld } from './network.ts';
import { nextSteps } from './next.ts';
import { writeProxyFile } from './proxy.ts';
import { askFirst, confirmPublished, readTestAddress } from './questions.ts';
import { listRecords, type Records, zoneText } from './records.ts';
import { setRelay } from './relay.ts';
import type { Report } from './report.ts';
import { isDaemonRunning, makeDataDirectory, openService, type Service } from './service.ts';
import { openSetupLog, type SetupLog } from './setup-log.ts';
import { findMissing, waitForRecords } from './wait.ts';

const { warn } = findingsOf('accounts');

type Running = { terminal: Terminal; report: Report; configFile: string | undefined };

/**
 * Runs all steps.
 * @throws CommandError when a step fails that the next ones need
 */
export async function setUp({ terminal, report, configFile }: Running, given: Answers): Promise<void> {
  const { env } = terminal;
  const places = findPlaces(env, configFile, process.getuid?.() === 0);
  makeDataDirectory(places.dataDir);
  const log = openSetupLog(places.dataDir);
  try {
    report.attach(log);
    await runSteps({ terminal, report, places, log }, given);
  } finally {
    log.close();
  }
}

type Located = Omit<Running, 'configFile'> & { places: Places; log: SetupLog };

async function runSteps({ terminal, report, places, log }: Located, given: Answers): Promise<void> {
  const { env } = terminal;
  const asked = await askFirst(terminal, places, given);
  const own = await findOwnAddresses(asked);
  const answers = { ...asked, addresses: own.found };
  const { config, hasChanged, findings } = writeConfiguration(places, answers, env);
  report.show([...findings, ...writeProxyFile(places.file, config, answers)]);

  report.show(await checkMachine(config, await isDaemonRunning(config.dataDir)));
  requireFreePorts(report);
  const world = await openWorld(config, answers.domain);
  report.show(own.findings);
  report.show(await checkNetwork(world, config, answers));

  const service = await openService({ config, file: places.file, env, hasChanged });
  try {
    report.show(service.findings);
    const step = { terminal, report, config, log, service, world };
    const made = await complete(step, answers);
    const next = await nextSteps({ world, config, made, service, file: places.file });
    report.showUnlogged(next.text);
    report.finish({ ...next.summary, config: places.file, records: made.records.toPublish });
  } finally {
    await service.close();
  }
}

type Step = {
  terminal: Terminal;
  report: Report;
  config: Config;
  log: SetupLog;
  service: Service;
  world: Awaited<ReturnType<typeof openWorld>>;
};

/** Makes what the daemon keeps, and waits for what others have to do. */
async function complete(step: Step, answers: Answers): Promise<Made & { records: Records }> {
  const { terminal, report, config, log, service, world } = step;
  const { control } = service;
  const { waitMs } = answers;
  report.show(await setRelay({ control, terminal }, answers));
  report.show(await checkOutbound(control));
  const accounts = await makeAccounts({ control, log, report }, answers);
  const records = await listRecords(control, config, accounts.domain);
  report.show(records.findings);
  const isPublished = !accounts.isNewDomain && (await findMissing(world, records.needed)).length === 0;
  if (!isPublished && records.toPublish.length > 0) {
    report.say(zoneText(records));
    await confirmPublished(terminal, answers);
  }
  const isKept = service.kind !== 'child';
  const waiting = { control, world, report, waitMs, isKept };
  const verified = await waitForRecords(waiting, accounts.domain, records.needed);
  report.show(verified.findings);
  const { domain, isVerified } = verified;
  if (!isVerified) {
    report.show([unfinished(answers)]);
    return { ...accounts, domain, records, mailbox: null };
  }

  const password = await makeMailbox({ control, log, report }, answers.email, domain);
  report.show(await awaitCertificate({ control, config, waitMs }));
  const to = await readTestAddress(terminal, answers, config.operator);
  report.show(await sendMessage({ control, accounts, to }));
  return { ...accounts, domain, records, mailbox: { address: answers.email, password } };
}

/** Says what a set-up leaves to its next run. */
function unfinished({ email, domain }: Answers): Finding {
  return warn(
    `mailbox ${email}`,
    `it is not made, and no message is sent, before ${domain} is verified`,
    `once the records are published, run this again, which does both: postrider setup ${email}`,
  );
}

/** @throws CommandError */
function requireFreePorts({ findings }: Report): void {
  const busy = findings.filter(({ check }) => check === 'ports');
  if (worstOf(busy) === 'fail')
    throw new CommandError('the daemon cannot start before its ports are free; then run this again');
}
