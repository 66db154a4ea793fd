/** The recovery address of a mailbox, as its owner and the administrators of its tenant see it. */
import type { Static } from 'typebox';
import type { recoveryAddressSchema } from '../../mailboxes/recovery/api.ts';
import { Facts, Foreign, Status } from '../frame/elements.tsx';
import { Disclosure, Form } from '../frame/forms.tsx';
import type { BaseContext } from '../page.ts';

export type RecoveryAddress = Static<typeof recoveryAddressSchema>;

type StateProps = { context: BaseContext } & Pick<RecoveryAddress, 'address' | 'confirmedAt'>;

export function RecoveryState({ context, address, confirmedAt }: StateProps) {
  const { recovery } = context.texts;
  if (address === null) return <p>{recovery.none}</p>;
  return (
    <Facts
      facts={[
        [recovery.address, <Foreign text={address} />],
        [
          recovery.state,
          <Status tone={confirmedAt === null ? 'warning' : 'good'}>
            {confirmedAt === null ? recovery.unconfirmed : recovery.confirmed}
          </Status>,
        ],
      ]}
    />
  );
}

/** Removes the address by an action of the page. `text` says what that means to the reader. */
export function RemoveAddress({
  context,
  action,
  text,
}: {
  context: BaseContext;
  action: string;
  text: string;
}) {
  const { recovery, frame } = context.texts;
  return (
    <Disclosure label={recovery.remove} isOpen={context.failed?.action === action}>
      <Form context={context} action={action} submit={frame.delete} isDangerous>
        <p>{text}</p>
      </Form>
    </Disclosure>
  );
}
