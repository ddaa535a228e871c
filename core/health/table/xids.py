"""The 176 Xid codes: what each means, whether it is fatal, what is done first and when it returns.

One line per code: number | name | domain | severity | first action | on repeat | fault class | whether
surveyed tools disagree on it | sources. The names are those of NVIDIA's driver without its common prefix.
Letters of the source column: see `SOURCES`. Codes on which tools disagree are the ones a site may want to
override.
"""

from __future__ import annotations

from typing import Final

SOURCES: Final[dict[str, str]] = {
    "c": "NVIDIA Xid catalogue (docs.nvidia.com/deploy/xid-errors)",
    "d": "NVIDIA/DCGM modules/health/DcgmHealthWatch.cpp @72fa3fe",
    "e": "aws/eks-node-monitoring-agent dcgm_policies.go @51af549",
    "g": "leptonai/gpud components/accelerator/nvidia/xid @4a8de33",
    "k": "NVIDIA/k8s-device-plugin internal/rm/health.go",
    "n": "NVIDIA/open-gpu-kernel-modules nverror.h @df1c9a3de",
    "s": "aws-samples/awsome-distributed-training gpu-cluster-healthcheck @7217859f",
    "z": "Azure/azurehpc-health-checks azure_gpu_xid.nhc @0e0a1ac",
}

ROWS: Final = """\
1|fifo_error_fifo_method|other|unexpected|manual|reboot_node|unknown|no|cgn
2|fifo_error_sw_method|other|unexpected|manual|reboot_node|unknown|no|cgn
3|fifo_error_unk_method|other|unexpected|manual|reboot_node|unknown|no|cg
4|fifo_error_channel_busy|other|unexpected|manual|reboot_node|unknown|no|cg
5|fifo_error_runout_overflow|other|unexpected|manual|reboot_node|unknown|no|cg
6|fifo_error_parse_err|other|unexpected|manual|reboot_node|unknown|no|cg
7|fifo_error_pte_err|other|unexpected|manual|reboot_node|unknown|no|cg
8|fifo_error_idle_timeout|application|warning|restart_app|run_diag_then_replace|software_user|no|cg
9|gr_error_instance|other|unexpected|manual|reboot_node|unknown|no|cg
10|gr_error_single_step|other|unexpected|manual|reboot_node|unknown|no|cg
11|gr_error_missing_hw|application|warning|restart_app|run_diag_then_replace|software_user|no|cg
12|gr_error_sw_method|other|unexpected|manual|reboot_node|unknown|no|cg
13|gr_exception|application|warning|restart_app|run_diag_then_replace|software_user|no|cgkns
14|fake_error|other|info|none|none|benign|no|cgn
15|scanline_timeout|other|unexpected|manual|reboot_node|unknown|no|cg
16|vblank_callback_timeout|other|unexpected|manual|reboot_node|unknown|no|cgn
17|parameter_error|other|unexpected|manual|reboot_node|unknown|no|cg
18|bus_master_timeout_error|pcie|unexpected|manual|reboot_node|unknown|no|cg
19|disp_missed_notifier|other|unexpected|manual|reboot_node|unknown|no|cgn
20|mpeg_error_sw_method|other|unexpected|manual|reboot_node|unknown|no|cgn
21|me_error_sw_method|other|unexpected|manual|reboot_node|unknown|no|cgn
22|vp_error_sw_method|other|unexpected|manual|reboot_node|unknown|no|cgn
23|rc_logging_enabled|other|unexpected|manual|reboot_node|unknown|no|cgn
24|gr_semaphore_timeout|other|unexpected|manual|reboot_node|unknown|no|cg
25|gr_illegal_notify|application|warning|restart_app|run_diag_then_replace|software_user|no|cg
26|fifo_error_fbistate_timeout|other|unexpected|manual|reboot_node|unknown|no|cg
27|vp_error|other|unexpected|manual|reboot_node|unknown|no|cgn
28|vp2_error|other|unexpected|manual|reboot_node|unknown|no|cgn
29|bsp_error|other|unexpected|manual|reboot_node|unknown|no|cgn
30|bad_addr_access|other|unexpected|manual|reboot_node|unknown|no|cgn
31|fifo_error_mmu_err_flt|application|warning|restart_app|run_diag_then_replace|software_user|yes|cdgkns
32|pbdma_error|application|warning|restart_app|run_diag_then_replace|software_user|yes|cdgn
33|sec_error|other|unexpected|manual|reboot_node|unknown|no|cgn
34|msvld_error|other|unexpected|manual|reboot_node|unknown|no|cgn
35|mspdec_error|other|unexpected|manual|reboot_node|unknown|no|cgn
36|msppp_error|other|unexpected|manual|reboot_node|unknown|no|cgn
37|fecs_err_unimp_firmware_method|application|info|none|none|benign|no|cg
38|fecs_err_watchdog_timeout|gpu_firmware_or_engine|info|none|none|benign|yes|cdg
39|ce0_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cdgn
40|ce1_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
41|ce2_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
42|vic_error|other|unexpected|manual|reboot_node|unknown|no|cdgn
43|resetchannel_verif_error|application|info|none|none|software_user|no|cdgkns
44|gr_fault_during_ctxsw|other|info|none|none|benign|yes|cgn
45|preemptive_removal|application|info|none|restart_fabric_manager_if_solo|software|no|cgkn
46|gpu_timeout_error|gpu_firmware_or_engine|fatal|reset_gpu|replace_node|gpu_hw|no|ceg
47|nvenc0_error|video_engine|unexpected|manual|reboot_node|unknown|no|cgn
48|gpu_ecc_dbe|gpu_memory|fatal|drain_then_reset_gpu|replace_node|gpu_hw_memory|no|cdegnsz
49|silent_running_constant_level_set_by_registry|power_thermal|unexpected|manual|reboot_node|unknown|no|cg
50|silent_running_level_transition_due_to_rc_error|power_thermal|unexpected|manual|reboot_node|unknown|no|cg
51|silent_running_stress_test_failure|power_thermal|unexpected|manual|reboot_node|unknown|no|cg
52|silent_running_level_trans_due_to_temp_rise|power_thermal|unexpected|manual|reboot_node|unknown|no|cg
53|silent_running_temp_reduced_clocking|power_thermal|unexpected|manual|reboot_node|unknown|no|cg
54|silent_running_pwr_reduced_clocking|power_thermal|fatal|replace_node|replace_node|gpu_hw|yes|cdegs
55|silent_running_temperature_read_error|power_thermal|unexpected|manual|reboot_node|unknown|no|cg
56|display_channel_exception|other|unexpected|manual|reboot_node|unknown|yes|cdgz
57|fb_link_training_failure_error|gpu_memory|unexpected|manual|reboot_node|unknown|yes|cdgz
58|fb_memory_error|gpu_memory|unexpected|manual|reboot_node|unknown|yes|cdgnz
59|pmu_error|gpu_firmware_or_engine|unexpected|manual|reboot_node|unknown|no|cgn
60|sec2_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|yes|cdgn
61|pmu_breakpoint|gpu_firmware_or_engine|unexpected|manual|reboot_node|unknown|no|cdgn
62|pmu_halt_error|gpu_firmware_or_engine|fatal|reset_gpu|replace_node|gpu_hw|no|cdegnz
63|inforom_dram_retirement_event|gpu_memory|warning|schedule_reset_gpu|replace_node|gpu_hw_memory|yes|cdegnsz
64|inforom_dram_retirement_failure|gpu_memory|fatal|replace_node|replace_node|gpu_hw_memory|no|cdegnsz
65|nvenc1_error|video_engine|unexpected|manual|reboot_node|unknown|no|cgnz
66|fecs_err_reg_access_violation|application|info|none|none|benign|no|cg
67|fecs_err_verif_violation|other|info|none|none|benign|no|cdg
68|nvdec0_error|video_engine|warning|restart_app|reboot_node|software_user|yes|cgknz
69|gr_class_error|application|warning|restart_app|reboot_node|software_user|yes|cgnz
70|ce3_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
71|ce4_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
72|ce5_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
73|nvenc2_error|video_engine|warning|manual|reboot_node|unknown|yes|cdgnz
74|nvlink_error|nvlink_c2c|fatal|reset_gpu|replace_node|gpu_hw|no|cdegnsz
75|ce6_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
76|ce7_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
77|ce8_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
78|vgpu_start_error|other|warning|update_software|manual|software_config|no|cdgn
79|gpu_has_fallen_off_the_bus|pcie|fatal|reboot_node|replace_node|gpu_hw_bus|no|cdegnsz
80|pbdma_pushbuffer_crc_mismatch|application|warning|restart_app|run_diag_then_replace|software_user|yes|cgnz
81|vga_subsystem_error|other|unexpected|manual|reboot_node|unknown|no|cgnsz
82|nvjpg0_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
83|nvdec1_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
84|nvdec2_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
85|ce9_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
86|ofa0_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
87|nvtelemetry_driver_report|other|unexpected|manual|reboot_node|unknown|no|cgn
88|nvdec3_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
89|nvdec4_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
90|ltc_error|other|unexpected|manual|reboot_node|unknown|no|cgn
91|reserved_xid|other|unexpected|manual|reboot_node|unknown|no|cgn
92|excessive_sbe_interrupts|gpu_memory|warning|none|replace_node|gpu_hw_memory|yes|cgnsz
93|inforom_erase_limit_exceeded|gpu_memory|info|none|none|benign|no|cdgn
94|contained_error|gpu_memory|warning|restart_app|reset_gpu|gpu_hw_memory|yes|cdgns
95|uncontained_error|gpu_memory|fatal|reset_gpu|replace_node|gpu_hw_memory|no|cdegns
96|nvdec5_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
97|nvdec6_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
98|nvdec7_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
99|nvjpg1_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
100|nvjpg2_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
101|nvjpg3_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
102|nvjpg4_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
103|nvjpg5_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
104|nvjpg6_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
105|nvjpg7_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
106|smbpbi_test_message|other|info|none|none|benign|no|cg
107|smbpbi_test_message_silent|other|info|none|none|benign|no|cg
108|nvlink_remote_translation_error|nvlink_c2c|info|none|none|benign|no|cgn
109|ctxsw_timeout_error|gpu_firmware_or_engine|fatal|reset_gpu|replace_node|gpu_hw|yes|cegks
110|sec_fault_error|gpu_firmware_or_engine|fatal|reset_gpu|replace_node|gpu_hw|no|cegns
111|bundle_error_event|other|unexpected|manual|reboot_node|unknown|no|cg
112|disp_supervisor_error|other|unexpected|manual|reboot_node|unknown|no|cg
113|dp_lt_failure|other|unexpected|manual|reboot_node|unknown|no|cg
114|head_rg_underflow|other|unexpected|manual|reboot_node|unknown|no|cg
115|core_channel_regs|other|unexpected|manual|reboot_node|unknown|no|cg
116|window_channel_regs|other|unexpected|manual|reboot_node|unknown|no|cg
117|cursor_channel_regs|other|unexpected|manual|reboot_node|unknown|no|cg
118|head_regs|other|unexpected|manual|reboot_node|unknown|no|cg
119|gsp_rpc_timeout|gpu_firmware_or_engine|fatal|reset_gpu|reboot_node|driver_bug|no|cdegnsz
120|gsp_error|gpu_firmware_or_engine|fatal|reset_gpu|reboot_node|driver_bug|no|cdegnsz
121|c2c_error|nvlink_c2c|info|none|manual|benign|yes|cdgns
122|spi_pmu_rpc_read_fail|other|unexpected|manual|reboot_node|unknown|no|cgn
123|spi_pmu_rpc_write_fail|other|unexpected|manual|reboot_node|unknown|no|cgn
124|spi_pmu_rpc_erase_fail|other|unexpected|manual|reboot_node|unknown|no|cgn
125|inforom_fs_error|other|unexpected|manual|reboot_node|unknown|no|cgns
126|ce10_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgns
127|ce11_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
128|ce12_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
129|ce13_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
130|ce14_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
131|ce15_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
132|ce16_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
133|ce17_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cn
134|ce18_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
135|ce19_error|copy_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
136|ali_training_fail|nvlink_c2c|fatal|reset_gpu|replace_node|gpu_hw|yes|cegns
137|nvlink_priv_err|nvlink_c2c|warning|restart_app|manual|software_user|no|cdgn
138|dla_error|other|unexpected|manual|reboot_node|unknown|no|cgn
139|ofa1_error|video_engine|warning|restart_app|run_diag_then_replace|software_user|no|cgn
140|unrecoverable_ecc_error_escape|gpu_memory|fatal|reset_gpu|replace_node|gpu_hw_memory|no|cdegns
141|fast_path_error|other|info|none|none|benign|no|cgn
142|nvenc3_error|video_engine|unexpected|manual|reboot_node|unknown|yes|cegn
143|gpu_init_error|gpu_firmware_or_engine|fatal|reset_gpu|replace_node|gpu_hw|no|cegns
144|nvlink_saw_error|nvlink_c2c|per_subcode|decode_intrinfo|replace_node|gpu_hw|no|cgns
145|nvlink_rlw_error|nvlink_c2c|per_subcode|decode_intrinfo|replace_node|gpu_hw|no|cgns
146|nvlink_tlw_error|nvlink_c2c|per_subcode|decode_intrinfo|replace_node|gpu_hw|no|cgns
147|nvlink_trex_error|nvlink_c2c|per_subcode|decode_intrinfo|replace_node|gpu_hw|no|cgns
148|nvlink_nvlpw_ctrl_error|nvlink_c2c|per_subcode|decode_intrinfo|replace_node|gpu_hw|no|cgns
149|nvlink_netir_error|nvlink_c2c|per_subcode|decode_intrinfo|replace_node|gpu_hw|no|cgns
150|nvlink_mse_error|nvlink_c2c|per_subcode|decode_intrinfo|replace_node|gpu_hw|no|cgns
151|key_rotation_error|gpu_firmware_or_engine|fatal|reboot_node|replace_node|gpu_hw|no|cegns
152|dla_smmu_error|other|info|none|none|benign|no|cgn
153|dla_timeout|other|info|none|none|benign|no|cgn
154|gpu_recovery_action_changed|other|meta|follow_text|follow_text|unknown|no|cgns
155|nvlink_sw_defined_error|nvlink_c2c|fatal|reset_gpu|manual|gpu_hw|no|cegns
156|resource_retirement_event|gpu_memory|fatal|reset_gpu|replace_node|gpu_hw_memory|no|cegns
157|resource_retirement_failure|gpu_memory|warning|none|replace_node|gpu_hw_memory|no|cgns
158|gpu_fatal_timeout|gpu_firmware_or_engine|fatal|reset_gpu|replace_node|gpu_hw|no|cegns
159|chi_non_data_error|nvlink_c2c|warning|reset_gpu_if_uvm|manual|gpu_hw|no|cgns
160|channel_retirement_event|gpu_memory|info|none|none|benign|no|cgn
161|channel_retirement_failure|gpu_memory|info|none|none|benign|no|cgn
162|pshc_reengaged|power_thermal|info|none|none|benign|no|cgns
163|pshc_disengaged|power_thermal|warning|none|none|benign|no|cgns
164|pshc_low_lifetime|power_thermal|warning|none|replace_node|benign|no|cgns
165|pshc_zero_lifetime|power_thermal|warning|none|replace_node|benign|no|cgns
166|nvlink_secure_crypto_err|nvlink_c2c|unknown|manual|manual|unknown|no|cgn
167|pcie_fatal_timeout|pcie|fatal|reboot_node|replace_node|gpu_hw_bus|no|cgn
168|reduced_gpu_memory_capacity|gpu_memory|fatal|reboot_node|enable_ecc|gpu_hw_memory|no|cgns
169|sec2_halt_error|gpu_firmware_or_engine|fatal|reset_gpu|reboot_node|gpu_hw|no|cgn
170|nvlink_secure_other|nvlink_c2c|unknown|manual|manual|unknown|no|cgn
171|uncorrectable_dram_error|gpu_memory|fatal|see_48|see_48|gpu_hw_memory|no|cgn
172|uncorrectable_sram_error|gpu_memory|fatal|see_48|see_48|gpu_hw_memory|no|cgn
173|c2c_fatal_link_failure|nvlink_c2c|fatal|reboot_node|replace_node|gpu_hw|no|gn
174|resetchannel_kill_process_silent|other|unknown|manual|manual|unknown|no|n
175|memory_subsystem_error|gpu_memory|unknown|manual|manual|unknown|no|n
176|pcie_correctable_error_fault|pcie|unknown|manual|manual|unknown|no|n
"""
