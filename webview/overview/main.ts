import '../shared/view.css';
import '../shared/page.css';
import './overview.css';
import { Bridge } from '../shared/bridge';
import { showOwnErrors } from '../shared/pages';
import { installTooltips } from '../shared/tooltip';
import { overviewView } from './overviewView';

installTooltips();
const root = document.createElement('main');
document.body.append(root);
showOwnErrors(root);
overviewView(root, new Bridge()).start();
