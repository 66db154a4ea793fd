/** The form that creates a route of outgoing mail or replaces one, and how its fields are read. */
import type { Form as FormBody } from '../../../http/pages/form-body.ts';
import { Checkbox, Field, Form, Select } from '../../frame/forms.tsx';
import { type Contexts, fieldOf, linesOf } from '../../page.ts';

const TEXTS = ['tenant', 'domain', 'tls', 'tlsName', 'tlsPolicy', 'user', 'password', 'ca'] as const;
const NUMBERS = ['port', 'connections', 'recipientsPerMinute'] as const;

const TLS_POLICIES = ['required-verified', 'required', 'opportunistic', 'none'] as const;

/** Returns the route that a form describes, in the shape of the operation. Empty fields are left out. */
export function readRoute(form: FormBody): object {
  const hosts = linesOf(form, 'hosts');
  const texts = TEXTS.map((name) => [name, fieldOf(form, name).trim()] as const);
  const numbers = NUMBERS.map((name) => {
    const text = fieldOf(form, name).trim();
    // A value that is not a whole number is passed as it is, so that the operation refuses it.
    return [name, /^\d+$/.test(text) ? Number(text) : text] as const;
  });
  const given = [...texts, ...numbers].filter(
    // The choice of TLS always has a value, which only a relay can have.
    ([name, value]) => value !== '' && (name !== 'tls' || hosts.length > 0),
  );
  return {
    ...Object.fromEntries(given),
    ...(hosts.length > 0 && { hosts }),
    ...(fieldOf(form, 'private') === 'on' && { private: true }),
  };
}

/** The form. */
export function RouteForm({ context }: { context: Contexts['operator'] }) {
  const { outboundRoutes: texts } = context.texts;
  const field = { context, action: 'save' };
  const policies = [
    { value: '', label: texts.ownPolicies },
    ...TLS_POLICIES.map((value) => ({ value, label: texts.tlsPolicies[value] })),
  ];
  const tls = (['starttls', 'implicit'] as const).map((value) => ({ value, label: texts.tlsKinds[value] }));
  return (
    <Form context={context} action="save" submit={texts.save}>
      <Field {...field} name="name" label={texts.name} help={texts.nameHelp} isRequired maxLength={40} />
      <Field {...field} name="tenant" label={texts.tenant} help={texts.tenantHelp} />
      <Field {...field} name="domain" label={texts.domain} help={texts.domainHelp} />
      <Field {...field} name="hosts" label={texts.hosts} help={texts.hostsHelp} rows={3} />
      <Select
        {...field}
        name="tlsPolicy"
        label={texts.tlsPolicy}
        options={policies}
        help={texts.tlsPolicyHelp}
      />
      <Field {...field} name="port" label={texts.port} help={texts.portHelp} type="number" />
      <Select {...field} name="tls" label={texts.tls} options={tls} />
      <Field {...field} name="tlsName" label={texts.tlsName} help={texts.tlsNameHelp} />
      <Field {...field} name="user" label={texts.user} autocomplete="off" />
      <Field
        {...field}
        name="password"
        label={texts.password}
        help={texts.passwordHelp}
        type="password"
        autocomplete="new-password"
      />
      <Field {...field} name="ca" label={texts.ca} help={texts.caHelp} rows={3} />
      <Checkbox {...field} name="private" label={texts.isPrivate} />
      <Field {...field} name="connections" label={texts.connections} type="number" />
      <Field {...field} name="recipientsPerMinute" label={texts.recipientsPerMinute} type="number" />
    </Form>
  );
}
