/** The form of a branding: name, colours and the file of the logo. */
import type { Static } from 'typebox';
import { LOGO_LIMITS } from '../../../branding/change.ts';
import type { BrandingBody, brandingSchema } from '../../../branding/schemas.ts';
import type { Form as SentForm } from '../../../http/pages/form-body.ts';
import { Checkbox, Field, Form } from '../../frame/forms.tsx';
import { fieldOf, type TenantContext } from '../../page.ts';
import { PREVIEW_FRAME } from './preview.tsx';

export type Branding = Static<typeof brandingSchema>;

export const COLOURS = ['color', 'textColor', 'darkColor', 'darkTextColor'] as const;

/** Maximum size of a form beside its file. */
const MAX_FIELD_BYTES = 65_536;
/** A file that is too large for a logo still arrives up to twice its limit, so that the form says why it is refused. */
export const BRANDING_UPLOAD = { maxBytes: 2 * LOGO_LIMITS.bytes + MAX_FIELD_BYTES, maxFiles: 1 };

type Props = { context: TenantContext; branding: Branding };

/** The fields, with a button that shows in the frame of the preview what they give. */
export function BrandingForm({ context, branding }: Props) {
  const { branding: texts, frame } = context.texts;
  const { formats } = context;
  const field = { context, action: 'save' };
  return (
    <Form
      {...field}
      submit={frame.save}
      hasFiles
      others={[{ action: 'preview', label: texts.showPreview, frame: PREVIEW_FRAME }]}
    >
      <Field {...field} name="name" label={texts.name} value={branding.name ?? ''} help={texts.nameHelp} />
      {COLOURS.map((name) => (
        <Field
          key={name}
          {...field}
          name={name}
          label={texts[name]}
          value={branding[name] ?? ''}
          help={texts.colourHelp[name]}
          placeholder="#1f5fbf"
        />
      ))}
      <Field
        {...field}
        name="logo"
        type="file"
        label={texts.logo}
        help={texts.logoHelp(formats.bytes(LOGO_LIMITS.bytes), formats.number(LOGO_LIMITS.pixels))}
      />
      {branding.logo !== null && <Checkbox {...field} name="removeLogo" label={texts.removeLogo} />}
    </Form>
  );
}

/** Returns the branding of a form as the API takes it. A file takes the place of the logo, and without one the logo stays as it is. */
export function readBranding(form: SentForm): BrandingBody {
  const textOf = (name: string) => fieldOf(form, name).trim() || null;
  const colours = Object.fromEntries(COLOURS.map((name) => [name, textOf(name)]));
  return { name: textOf('name'), ...colours, ...readLogo(form) };
}

function readLogo(form: SentForm): Pick<BrandingBody, 'logo'> {
  const [file] = form.files;
  if (file && file.bytes.length > 0) return { logo: file.bytes.toString('base64') };
  return fieldOf(form, 'removeLogo') === 'on' ? { logo: null } : {};
}
