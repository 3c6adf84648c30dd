import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { FormFields } from '../http/index.js';
import { FormPage, type FormDescription } from './form-page.js';
import { ANY_USER, type PageVisit } from './page-route.decorator.js';
import type { Page } from './page.js';

interface Shop {
  readonly name: string;
}

/** A page whose shop is renamed before the form locks it. */
class RenamePage extends FormPage(ANY_USER) {
  calls = 0;

  describe(): FormDescription<object, Shop> {
    this.calls += 1;
    return {
      title: 'Rename the shop',
      parent: { title: 'Shops', path: '/shops' },
      subject: { name: 'Old' },
      shows: ({ name }) => ({ Name: name }),
      button: 'Save',
      perform: (_request, check) => Promise.resolve(check({ name: 'New' })),
      next: '/shops',
    };
  }
}

const visitWith = (form: Readonly<Record<string, string>>) =>
  ({ form: new FormFields(new URLSearchParams(form)) }) as PageVisit<string>;

describe('A form page', () => {
  it('describes itself once if the form is refused, and shows what it would change now', async () => {
    const page = new RenamePage();
    const refused = (await page.send(visitWith({ seen: '{"Name":"Old"}' }))) as Page;
    expect(refused.problem?.message).toContain('Current values: Name: New.');
    expect(renderToString(refused.content as VNode)).toContain(
      'name="seen" value="{&quot;Name&quot;:&quot;New&quot;}"',
    );
    expect(page.calls).toBe(1);
  });
});
