import { SunMoon } from 'lucide-preact';
import { chooseTheme } from '../theme.ts';
import { Menu } from '../ui/menu.tsx';

/** Light, dark, or as the system has it. */
export const ThemeMenu = () => (
  <Menu
    label="Theme"
    items={[
      { id: 'light', title: 'Light', act: () => chooseTheme('light') },
      { id: 'dark', title: 'Dark', act: () => chooseTheme('dark') },
      { id: 'system', title: 'As the system', act: () => chooseTheme('system') },
    ]}
  >
    <SunMoon size={18} aria-hidden="true" />
  </Menu>
);
