import type { ComponentType } from 'preact';
import { Screen } from '../../parts/screen.tsx';
import { addressOf, type RouteMatch, SETTINGS_SECTIONS, type SettingsSection } from '../../routes.ts';
import { AuditSection } from './audit.tsx';
import { KeysSection } from './keys.tsx';
import { LimitsSection } from './limits.tsx';
import { ModelsSection } from './models.tsx';
import { SecretsSection } from './secrets.tsx';
import { ServersSection } from './servers.tsx';

const SECTIONS: { readonly [name in SettingsSection]: { readonly label: string; readonly content: ComponentType } } = {
  secrets: { label: 'Secrets', content: SecretsSection },
  models: { label: 'Models', content: ModelsSection },
  'mcp-servers': { label: 'MCP servers', content: ServersSection },
  limits: { label: 'Limits', content: LimitsSection },
  keys: { label: 'API keys', content: KeysSection },
  audit: { label: 'Audit', content: AuditSection },
};

export function SettingsScreen({ route }: { readonly route: RouteMatch<'settings'> }) {
  const section = route.params.section as SettingsSection;
  const { label, content: Content } = SECTIONS[section];
  return (
    <Screen title={label}>
      <nav class="tabs" aria-label="Settings">
        {SETTINGS_SECTIONS.map((name) => (
          <a
            key={name}
            href={addressOf('settings', { section: name })}
            aria-current={name === section ? 'page' : undefined}
          >
            {SECTIONS[name].label}
          </a>
        ))}
      </nav>
      <Content />
    </Screen>
  );
}
