"""Sub-codes of Xid 144 to 150 (NVLink 5): which unit, how bad, and whether the peer is to be looked at.

One line per sub-code: Xid | first letters of the unit | the low 26 bits of intrinfo before driver R575 |
the same since R575 | error status in hex | NVIDIA's recovery bucket | what to look at | severity. A `-` in
the bits matches either value. Source: NVIDIA Xid catalogue, NVLink 5 decode table.
"""

from __future__ import annotations

from typing import Final

ROWS: Final = """\
144|SAW_MVB|000000----------0000100001|000000-------------0000001|1|ignore|support|non-fatal
144|SAW_MVB|000000----------0000100001|000000-------------0000001|2|reset_gpu|support|fatal
144|SAW_MVB|000000----------0000100001|000000-------------0000001|4|ignore|ignore|non-fatal
144|SAW_MVB|000000----------0000100001|000000-------------0000001|8|ignore|support|non-fatal
144|SAW_MVB|000000----------0000100001|000000-------------0000001|10|reset_gpu|support|fatal
144|SAW_MVB|000000----------0000100001|000000-------------0000001|20|ignore|ignore|non-fatal
145|RLW_CTRL|000000----------0001100010|000000-------------0000011|80000000|ignore|support|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|1|xid_154_eval|support|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|2|xid_154_eval|support|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|4|xid_154_eval|nvlink_flow|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|8|xid_154_eval|nvlink_flow|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|10|xid_154_eval|nvlink_flow|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|20|xid_154_eval|nvlink_flow|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|40|reset_gpu|support|fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|80|reset_gpu|support|fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|100|ignore|ignore|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|200|ignore|ignore|non-fatal
145|RLW_REMAP|000000----------0010000010|000000-------------0000100|80000000|ignore|support|non-fatal
145|RLW_RSPCOL|000000----------0010100010|000000-------------0000101|1|ignore|ignore|non-fatal
145|RLW_RSPCOL|000000----------0010100010|000000-------------0000101|2|reset_gpu|support|fatal
145|RLW_RSPCOL|000000----------0010100010|000000-------------0000101|80000000|ignore|support|non-fatal
145|RLW_RXPIPE|000000---------00011000010|000000------------00000110|1|ignore|support|non-fatal
145|RLW_RXPIPE|000000---------00011000010|000000------------00000110|2|ignore|support|non-fatal
145|RLW_RXPIPE|000000---------00011000010|000000------------00000110|4|ignore|support|non-fatal
145|RLW_RXPIPE|000000----------0011000010|000000-------------0000110|8|ignore|support|non-fatal
145|RLW_RXPIPE|000000----------0011000010|000000-------------0000110|80000000|ignore|support|non-fatal
145|RLW_SRC_TRACK|000000----------0011100010|000000-------------0000111|1|reset_gpu|support|fatal
145|RLW_SRC_TRACK|000000----------0011100010|000000-------------0000111|2|ignore|ignore|non-fatal
145|RLW_SRC_TRACK|000000----------0011100010|000000-------------0000111|4|xid_154_eval|ignore|non-fatal
145|RLW_SRC_TRACK|000000----------0011100010|000000-------------0000111|8|xid_154_eval|ignore|non-fatal
145|RLW_SRC_TRACK|000000----------0011100010|000000-------------0000111|10|reset_gpu|support|fatal
145|RLW_SRC_TRACK|000000----------0011100010|000000-------------0000111|20|reset_gpu|support|fatal
145|RLW_SRC_TRACK|000000----------0011100010|000000-------------0000111|80000000|ignore|support|non-fatal
145|RLW_TAGSTATE|000000----------0100000010|000000-------------0001000|1|ignore|ignore|non-fatal
145|RLW_TAGSTATE|000000----------0100000010|000000-------------0001000|2|reset_gpu|support|fatal
145|RLW_TAGSTATE|000000----------0100000010|000000-------------0001000|10000|ignore|ignore|non-fatal
145|RLW_TAGSTATE|000000----------0100000010|000000-------------0001000|20000|reset_gpu|support|fatal
145|RLW_TAGSTATE|000000----------0100000010|000000-------------0001000|100000|reset_gpu|support|fatal
145|RLW_TAGSTATE|000000----------0100000010|000000-------------0001000|80000000|ignore|support|non-fatal
146|TLW_CTRL|000000----------0100100011|000000-------------0001001|1|ignore|ignore|non-fatal
146|TLW_CTRL|000000----------0100100011|000000-------------0001001|2|ignore|support|non-fatal
146|TLW_CTRL|000000----------0100100011|000000-------------0001001|4|reset_gpu|support|fatal
146|TLW_CTRL|000000----------0100100011|000000-------------0001001|80000000|ignore|support|non-fatal
146|TLW_RX|000000----------0101000011|000000-------------0001010|1|ignore|ignore|non-fatal
146|TLW_RX|000000----------0101000011|000000-------------0001010|2|ignore|support|non-fatal
146|TLW_RX|000000----------0101000011|000000-------------0001010|4|reset_gpu|support|fatal
146|TLW_RX|000000----------0101000011|000000-------------0001010|80000000|ignore|support|non-fatal
146|TLW_RX|000000----------0101000011|000000-------------0001011|1|ignore|ignore|non-fatal
146|TLW_RX|000000----------0101000011|000000-------------0001011|2|ignore|support|non-fatal
146|TLW_RX|000000----------0101000011|000000-------------0001011|4|reset_gpu|support|fatal
146|TLW_RX|000000----------0101000011|000000-------------0001011|80000000|ignore|support|non-fatal
146|TLW_TX|000000----------0101100011|000000-------------0001100|1|ignore|ignore|non-fatal
146|TLW_TX|000000----------0101100011|000000-------------0001100|2|ignore|support|non-fatal
146|TLW_TX|000000----------0101100011|000000-------------0001100|4|reset_gpu|support|fatal
146|TLW_TX|000000----------0101100011|000000-------------0001100|80000000|ignore|support|non-fatal
146|TLW_TX|000000----------0101100011|000000-------------0001101|1|ignore|ignore|non-fatal
146|TLW_TX|000000----------0101100011|000000-------------0001101|2|ignore|support|non-fatal
146|TLW_TX|000000----------0101100011|000000-------------0001101|4|reset_gpu|support|fatal
146|TLW_TX|000000----------0101100011|000000-------------0001101|80000000|ignore|support|non-fatal
147|TREX|000000----------0110000100|000000-------------0001110|1|ignore|support|non-fatal
147|TREX|000000----------0110000100|000000-------------0001110|80000000|ignore|support|non-fatal
148|NVLPW_CTRL|000000----------0000000101|000000-------------0001111|80000000|ignore|support|non-fatal
149|NETIR|000000----------0000000110|000000-------------0011000|-|reset_gpu|report_if_alone|link fatal
149|NETIR_LINK|000000----------0111000110|000000-------------0010001|-|reset_gpu|report_if_alone|link fatal
149|NETIR_LINK|000001----------0111000110|000001-------------0010001|-|reset_gpu|report_if_daily|link fatal
149|NETIR_LINK|000010----------0111000110|000010-------------0010001|-|reset_gpu|link_si|link fatal
149|NETIR_LINK|000100----------0111000110|000100-------------0010001|-|reset_gpu|link_si|link fatal
149|NETIR_LINK|001010----------0111000110|001010-------------0010001|-|reset_gpu|link_si|link fatal
149|NETIR_LINK|001111----------0111000110|001111-------------0010001|-|reset_gpu|sw_user|link fatal
149|NETIR_LINK|010000----------0111000110|010000-------------0010001|-|reset_gpu|sw_user_link_si|link fatal
149|NETIR_LINK|010001----------0111000110|010001-------------0010001|-|reset_gpu|sw_user|link fatal
149|NETIR_LINK|010010----------0111000110|010010-------------0010001|-|reset_gpu|sw_user_link_si|link fatal
149|NETIR_LINK|010101----------0111000110|010101-------------0010001|-|reset_gpu|peer_device|link fatal
149|NETIR_LINK|010110----------0111000110|010110-------------0010001|-|reset_gpu|sw_user|link fatal
149|NETIR_LINK|100000----------0111000110|100000-------------0010001|-|reset_gpu|peer_device|link fatal
149|NETIR_LINK|100001----------0111000110|100001-------------0010001|-|reset_gpu|peer_device|link fatal
149|NETIR_LINK|100010----------0111000110|100010-------------0010001|-|reset_gpu|peer_device|link fatal
149|NETIR_LINK|100011----------0111000110|100011-------------0010001|-|reset_gpu|peer_device|link fatal
149|NETIR_LINK|100100----------0111000110|100100-------------0010001|-|reset_gpu|peer_device|link fatal
149|NETIR_LINK|100101----------0111000110|100101-------------0010001|-|reset_gpu|peer_device|link fatal
149|NETIR_LINK|100110----------0111000110|100110-------------0010001|-|ignore|sw/user|link fatal
149|NETIR_LINK|101000----------0111000110|101000-------------0010001|-|ignore|host|fatal
149|NETIR_LINK|101010----------0111000110|101010-------------0010001|-|reset_gpu|link_si_and_cables|link fatal
149|NETIR_LINK|101011----------0111000110|101011-------------0010001|-|reset_gpu|link_si_and_cables|link fatal
149|NETIR_BER_EVENT|000000----------1000100110|000000-------------0010011|0|ignore|link_si_and_cables|non-fatal
149|NETIR_BER_EVENT|000000----------1000100110|000000-------------0010011|1|ignore|link_si_and_cables|non-fatal
149|NETIR_BER_EVENT|000000----------1000100110|000000-------------0010011|2|ignore|link_si_and_cables|non-fatal
149|NETIR_BER_EVENT|000000----------1000100110|000000-------------0010011|3|ignore|link_si_and_cables|non-fatal
149|NETIR_MFDE_EVENT|000000----------1001000110|000000-------------0010100|1|reset_gpu|support|fatal
149|NETIR_MFDE_EVENT|000000----------1001000110|000000-------------0010100|3|ignore|ignore|non-fatal
149|NETIR_MFDE_EVENT|000000----------1001000110|000000-------------0010100|4|reset_gpu|support|fatal
149|NETIR_MFDE_EVENT|000000----------1001000110|000000-------------0010100|5|reset_gpu|support|fatal
149|NETIR_MFDE_EVENT|000000----------1001000110|000000-------------0010100|7|reset_gpu|support|fatal
150|MSE Degraded|000000----------0000000000|000000-------------0000000|0/ffffffff|reset_gpu|support|fatal
150|MSE_WATCHDOG|000000----------0000000000|000000-------------0000000|0|reset_gpu|support|fatal
"""
