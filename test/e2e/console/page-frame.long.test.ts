// The page frame in a real browser: login, links, unknown addresses, and an unreachable gateway.
import { describe, expect, it } from 'vitest';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway } from '../gateway/gateway-support.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });
const browser = sharedBrowser(gateway);

describeInBrowser('the console', () => {
  describe('without a session', () => {
    it('asks for a key, refuses a wrong one, and goes on to where the user was', async () => {
      const { page, context, end } = await browser.open('/console/runs?status=failed');
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(new URL(page.url()).searchParams.get('to')).toBe('/console/runs?status=failed');
      expect(await axe(page)).toEqual([]);
      await picture(page, 'login');
      await page.getByLabel('API key').fill('wrong-key');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('key_invalid').waitFor();
      expect(await axe(page)).toEqual([]);
      await page.getByLabel('API key').fill(ADMIN);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL(/\/console\/runs\?status=failed$/);
      const [cookie] = await context.cookies();
      expect(cookie).toMatchObject({ name: 'signalbox_session', httpOnly: true, sameSite: 'Strict' });
      expect(await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])')).toBe(
        '["",{},{}]',
      );
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await end();
    });
  });

  describe('with a session', () => {
    it('says where there is nothing, and leads back without loading the page again', async () => {
      const { page, end } = await browser.open('/console/nowhere', { key: ADMIN });
      await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
      expect(await axe(page)).toEqual([]);
      await page.evaluate('window.stillHere = true');
      await page.getByRole('link', { name: 'Go to the beginning.' }).click();
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      const arrived = () => page.evaluate('[window.stillHere, document.activeElement.tagName, document.title]');
      await expect.poll(arrived).toEqual([true, 'H1', 'Home · Signalbox']);
      await page.goBack();
      await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
      await end();
    });

    it('shows the keys on ?, and returns the focus', async () => {
      const { page, end } = await browser.open('/console', { key: ADMIN });
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      await page.keyboard.press('?');
      const dialog = page.getByRole('dialog', { name: 'Keys' });
      await dialog.waitFor();
      expect(await axe(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await picture(page, 'home');
      await end();
    });

    it('reports an unreachable gateway, and reloads when it returns', async () => {
      const { page, context, end } = await browser.open('/console', {
        key: ADMIN,
        expects: [/Failed to load resource/],
      });
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      await context.setOffline(true);
      await page.getByRole('link', { name: 'Signalbox' }).click();
      await page.getByText('The gateway cannot be reached. Reconnecting…').waitFor();
      await context.setOffline(false);
      await page.getByText('The gateway cannot be reached. Reconnecting…').waitFor({ state: 'detached' });
      await end();
    });
  });
});
